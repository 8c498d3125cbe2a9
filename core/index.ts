/**
 * The only door plugins use: `import { … } from 'earshot'`. It is light: what is heavy behind it loads when it is first
 * used, so that a thread that forwards packets comes up at once.
 */

export type { Static } from 'typebox'
export { checkAllow, checkCidrs, notAnAddress } from './address-checks.ts'
export { BackendCalls, type BackendContext } from './backend/backend-calls.ts'
export { BackendLink, type BackendLinkHandlers, type BackendLinkOptions } from './backend/backend-link.ts'
export { connectWebSocket, type WebSocketConnectOptions } from './backend/connect-websocket.ts'
export { webSocketProblems } from './backend/websocket-problems.ts'
export { traceFields } from './call-ids.ts'
export { inCallSpan } from './call-span.ts'
export type { CallTracing } from './call-tracing.ts'
export { clientAttributes } from './client-attributes.ts'
export type {
  AudioFormat,
  AudioFrame,
  BridgeCall,
  JsonObject,
  JsonValue,
  Played,
  PlayoutEvent,
} from './contracts/inference-bridge.ts'
export { InferenceBridge } from './contracts/inference-bridge.ts'
export { Ingress } from './contracts/ingress.ts'
export type { Recovered } from './contracts/recovery-store.ts'
export { RecoveryStore } from './contracts/recovery-store.ts'
export type { PortableCodec, Route, RouteLabel } from './contracts/routing-codec.ts'
export { RoutingCodec } from './contracts/routing-codec.ts'
export type { Datagram, UdpCounters, UdpEngine, UdpOptions, UdpPort } from './contracts/udp-port.ts'
export { HEAD_ROOM, MAX_DATAGRAM } from './contracts/udp-port.ts'
export type { ErrorCode, ErrorSource } from './errors.ts'
export { EdgeError, ERROR_CODES } from './errors.ts'
export { opensslProblem, opensslVersion } from './ffi/openssl.ts'
export { Aes128Ctr, Aes128Gcm, HmacSha1 } from './ffi/openssl-ciphers.ts'
export { DtlsConnection, type DtlsRole, type DtlsSecrets } from './ffi/openssl-connection.ts'
export { DtlsContext, type DtlsContextOptions, type KeyPair } from './ffi/openssl-context.ts'
export { pseudorandom } from './ffi/openssl-prf.ts'
export { sharedMemory } from './ffi/shared-memory.ts'
export {
  bareFraming,
  FRAME_FAULTS,
  type FrameDirection,
  type FrameFault,
  type Framing,
  framing,
  plainFraming,
  SPP_MAC_LENGTH,
} from './framing.ts'
export { checkFraming, type FrameKey, keysOf, type MacOption, macOption } from './framing-option.ts'
export { givenKey } from './http-auth.ts'
export { answerErrors } from './http-errors.ts'
export { addWebSockets } from './http-websocket.ts'
export { isJsonObject, parseJsonObject } from './json.ts'
export { Type } from './lazy-typebox.ts'
export { Observed } from './observed.ts'
export type { Context, NodeIdentity, Plugin, Principal, Problem } from './plugin.ts'
export { definePlugin } from './plugin.ts'
export { portableCodecs } from './portable-codec.ts'
export { fillRandom, randomBytes } from './random.ts'
export { type SelfSigned, selfSigned } from './self-signed.ts'
export type { Keys, ServiceKey } from './service.ts'
export { service } from './service.ts'
export { readTraceparent } from './traceparent.ts'
export { DatagramLoop, type DatagramLoopOptions, type DatagramLoopReceiver } from './udp/datagram-loop.ts'
export { SharedCounters } from './udp/shared-counters.ts'
export { clockOffset } from './udp/thread-clock.ts'
export type {
  SharedControl,
  SharedSocket,
  ThreadControl,
  ThreadSocket,
  ThreadUdp,
} from './udp/thread-sockets.ts'
export { wallTime } from './wall-clock.ts'
export { Address, parseAddress, toAddress } from './wire/address.ts'
export { AllowedAddresses } from './wire/allowed-addresses.ts'
export type { Cidr } from './wire/cidr.ts'
export { inCidrs, parseCidr, parseCidrs } from './wire/cidr.ts'
export type { PacketKind } from './wire/demux.ts'
export { packetKind } from './wire/demux.ts'
export { inPorts, type PortRange, parsePortRange } from './wire/ports.ts'
export { readSpp, SPP_LENGTH, writeSpp } from './wire/spp.ts'
export {
  readStun,
  STUN_BINDING_ERROR,
  STUN_BINDING_INDICATION,
  STUN_BINDING_REQUEST,
  STUN_BINDING_SUCCESS,
  STUN_HEADER_LENGTH,
  StunSummary,
} from './wire/stun.ts'
export { TRANSACTION_ID } from './wire/stun-attributes.ts'
export { IntegrityKey } from './wire/stun-integrity.ts'
export { StunMessage, type StunParse } from './wire/stun-message.ts'
export {
  type BindingErrorCode,
  type BindingRequest,
  STUN_ROOM,
  writeBindingError,
  writeBindingRequest,
  writeBindingSuccess,
} from './wire/stun-writer.ts'
