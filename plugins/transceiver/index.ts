/** The transceiver plugin: opens the socket, makes the sessions, and puts signaling on the public listener. */

import {
  type Address,
  type Context,
  definePlugin,
  EdgeError,
  InferenceBridge,
  Ingress,
  RoutingCodec,
} from '../../core/index.ts'
import { registerSessionList } from './admin.ts'
import { CallTimings } from './call-timings.ts'
import { startControl } from './control/control.ts'
import { Dispatch } from './dispatch.ts'
import { observe } from './metrics.ts'
import { checkOptions, Options } from './options.ts'
import { dtlsIdentity } from './peer/dtls-context.ts'
import { announced, openPorts } from './ports.ts'
import { Sessions } from './sessions.ts'
import { registerOwnedRoutes } from './signaling/call-routes.ts'
import { registerSignaling } from './signaling/register.ts'
import { tellEnd, traceOf } from './tell-end.ts'

export default definePlugin({
  name: 'transceiver',
  api: 1,
  options: Options,
  requires: { codec: RoutingCodec, bridge: InferenceBridge },
  optional: { ingress: Ingress },
  check: checkOptions,
  async setup(options, { codec, bridge, ingress }, context) {
    const identity = dtlsIdentity()
    const advertise = advertised(context, ingress)
    const dispatch = new Dispatch()
    const { socket, control } = await openPorts(options, context, dispatch)
    context.onClose(async () => {
      await control?.close()
      await socket.close()
    })
    const address = announced(options, socket.local)
    ingress?.closesFirst(address)
    const sessions = new Sessions(
      {
        cluster: context.node.cluster,
        address,
        advertise,
        codec,
        bridge,
        identity,
        tracer: context.tracer,
        tracing: context.tracing,
        opus: options.opus,
        maxCalls: options.maxCalls,
        limits: options.limits,
        connectMs: options.connectSeconds * 1000,
        maxCallMs: options.maxCallSeconds * 1000,
        timings: new CallTimings(context.meter),
        onStarted: (call) => context.log.info({ ...call, ...traceOf(call) }, 'call started'),
        onEnded: (call) => tellEnd(context.log, call),
      },
      socket,
    )
    dispatch.serve(sessions.routes)
    context.onClose(() => sessions.close())
    // A process that is told to stop at once still says close_notify to each client.
    context.signal.addEventListener('abort', () => sessions.close())
    context.onDrain((deadline) => sessions.drain(deadline))
    observe(context.meter, sessions, socket, dispatch)
    const passOn = await startControl(control, options.control, {
      context,
      codec,
      own: address,
      register: (scope, door) => registerOwnedRoutes(scope, { calls: sessions, door }),
    })
    await registerSignaling(context.http, {
      calls: sessions,
      authenticator: context,
      limits: options.limits,
      ...(passOn ? { passOn } : {}),
      ...(options.clientSecretKeys ? { clientSecretKeys: options.clientSecretKeys } : {}),
    })
    if (!options.clientSecretKeys) {
      context.log.info(
        'client secrets are sealed with a key of this process alone; clientSecretKeys shares one',
      )
    }
    registerSessionList(context.admin, sessions)
    context.log.info({ listen: socket.local, advertise }, 'transceiver listens')
    return {}
  },
})

function advertised(context: Context, ingress: Ingress | undefined): readonly Address[] {
  const addresses = context.node.advertise ?? ingress?.addresses
  if (addresses && addresses.length > 0) return addresses
  throw new EdgeError(
    'config_invalid',
    'answers have no address to advertise: list your relays\' public ip:port pairs in "node": { "advertise": […] }, or run a relay in this process',
  )
}
