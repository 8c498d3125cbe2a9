/** Makes STUN messages for tests, byte by byte and without integrity; wrong ones too. */

/** The type of the USERNAME attribute. */
export const USERNAME = 0x0006

/** An attribute with its padding. */
export function attribute(type: number, value: string | Buffer): Buffer {
  const bytes = Buffer.from(value)
  const head = Buffer.alloc(4)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(bytes.length, 2)
  return Buffer.concat([head, bytes, Buffer.alloc(-bytes.length & 3)])
}

/** A message with a constant transaction id. */
export function stunMessage(type: number, attributes: readonly Buffer[]): Buffer {
  const body = Buffer.concat(attributes)
  const head = Buffer.alloc(20, 0x42)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(body.length, 2)
  head.writeUInt32BE(0x2112a442, 4)
  return Buffer.concat([head, body])
}

/** A Binding request with this USERNAME and an attribute behind it. */
export function bindingRequest(username: string): Buffer {
  return stunMessage(0x0001, [attribute(USERNAME, username), attribute(0x0024, Buffer.alloc(4, 1))])
}
