/** The plugin as the host sets it up, for tests that talk to a Redis of their own. */

import type { Recovered, RecoveryStore } from '../../../../core/index.ts'
import { createTelemetry } from '../../../../core/telemetry.ts'
import { eventually } from '../../../../core/testing/check.ts'
import { type PluginContext, pluginContext } from '../../../../core/testing/plugin-context.ts'
import { type Address, parseAddress } from '../../../../core/wire/address.ts'
import plugin from '../../../../plugins/redis-recovery/index.ts'
import type { RedisOptions } from '../../../../plugins/redis-recovery/options.ts'
import { metricIn } from '../../../peers/metric-text.ts'

/** A secret as all relays of a test have it. */
export const SECRET = '5e'.repeat(32)

/** An address that is known to be one. */
export const at = (text: string): Address => parseAddress(text)!

/** Who and what tests write. */
export const ADVERTISED = at('198.51.100.1:3478')
export const CLIENT = at('203.0.113.7:50000')

/** A route to a transceiver. */
export function route(transceiver = '10.0.0.5:4000'): Recovered {
  return { cluster: 1, transceiver: at(transceiver), session: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8) }
}

/** The n-th of many clients. */
export const nth = (n: number): Address => CLIENT.clone().set(0, 0, 0xffff, 0x0a000000 + n, 1)

/** A log line: pino's level (30 info, 40 warning), message and fields. */
export interface Line {
  readonly level: number
  readonly msg: string
  readonly [field: string]: unknown
}

/** A store of the plugin, disposed of at the end of the scope. */
export interface Rig extends AsyncDisposable {
  readonly store: RecoveryStore
  readonly host: PluginContext
  /** What it logged from `info` up. */
  lines(): Line[]
  recall(client?: Address): Promise<Recovered | undefined>
  /** The value of a metric, or 0: `metric('commands', { outcome: 'ok' })`, over all series that have these labels. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  /** Waits until Redis is connected. */
  connected(): Promise<void>
  /** Waits until a flow is found in Redis. */
  known(client?: Address, transceiver?: string): Promise<void>
}

/** Options with their defaults. */
export function options(changes: Partial<RedisOptions>): RedisOptions {
  return {
    keyPrefix: 'earshot:',
    secret: SECRET,
    commandTimeoutMs: 500,
    connectTimeoutMs: 2000,
    maxQueued: 1000,
    ...changes,
  }
}

/** Sets one up. It resolves whether Redis is there or not. */
export async function startStore(changes: Partial<RedisOptions>): Promise<Rig> {
  const telemetry = createTelemetry({ version: '0', env: {} })
  const host = pluginContext({ meter: telemetry.meter('recovery') })
  const { recovery: store } = await plugin.setup(options(changes), {}, host.context)
  const recall = (client = CLIENT): Promise<Recovered | undefined> =>
    store.recall(ADVERTISED, client, AbortSignal.timeout(2000))
  const metric: Rig['metric'] = async (name, labels) => {
    const text = await telemetry.metricsText()
    const full = `earshot_redis_recovery_${name}`
    return metricIn(text, full, labels) + metricIn(text, `${full}_total`, labels)
  }
  return {
    store,
    host,
    recall,
    metric,
    lines: () => host.logs.map(toLine).filter(({ level }) => level >= 30),
    connected: () => eventually('redis is connected', async () => (await metric('connected')) === 1, 10_000),
    known: (client = CLIENT, transceiver = '10.0.0.5:4000') =>
      eventually(
        `${client} is known`,
        async () => (await recall(client).catch(() => undefined))?.transceiver.toString() === transceiver,
        10_000,
      ),
    async [Symbol.asyncDispose](): Promise<void> {
      await host.close()
      await telemetry.close(0)
    },
  }
}

function toLine({ level, msg, ...fields }: Readonly<Record<string, unknown>>): Line {
  return { ...fields, level: Number(level), msg: String(msg) }
}
