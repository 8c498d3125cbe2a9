/**
 * Flows and routes as bytes, in texts of one character a byte: a typed array of its own costs ten times its bytes, and
 * a text is a copy. All of fixed length.
 */

import { Address, type Recovered } from '../../../core/index.ts'

/** Bytes of an ip:port: 16 and 2. */
const ADDRESS = 18

/** Bytes of a route: the transceiver's ip:port, the cluster (2), the session (8). */
export const ROUTE_LENGTH = ADDRESS + 2 + 8

const scratch = Buffer.alloc(2 * ADDRESS)

/** Who a flow is: the advertised address and the client, 36 bytes. */
export function identityOf(advertised: Address, client: Address): string {
  writeAddress(advertised, 0)
  writeAddress(client, ADDRESS)
  return scratch.toString('latin1', 0, 2 * ADDRESS)
}

/** A transceiver's ip:port, as a route begins with it. */
export function transceiverText(transceiver: Address): string {
  writeAddress(transceiver, 0)
  return scratch.toString('latin1', 0, ADDRESS)
}

/** A route; a session of another length than 8 is cut or filled with zeros. */
export function routeText({ transceiver, cluster, session }: Recovered): string {
  writeAddress(transceiver, 0)
  scratch.writeUInt16BE(cluster & 0xffff, ADDRESS)
  for (let i = 0; i < 8; i++) scratch[ADDRESS + 2 + i] = session[i] ?? 0
  return scratch.toString('latin1', 0, ROUTE_LENGTH)
}

/** Reads the route at `at`, which has ROUTE_LENGTH bytes after it; undefined when its port is none. */
export function readRoute(bytes: Buffer, at: number): Recovered | undefined {
  const port = bytes.readUInt16BE(at + 16)
  if (port === 0) return undefined
  return {
    transceiver: new Address().read(bytes, at, port),
    cluster: bytes.readUInt16BE(at + ADDRESS),
    session: Uint8Array.from(bytes.subarray(at + ADDRESS + 2, at + ROUTE_LENGTH)),
  }
}

function writeAddress(address: Address, at: number): void {
  address.write(scratch, at)
  scratch.writeUInt16BE(address.port & 0xffff, at + 16)
}
