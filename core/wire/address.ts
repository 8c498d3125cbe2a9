/**
 * An ip:port as four 32-bit words and a port, so that the packet path compares and copies addresses without
 * strings. IPv4 is kept as mapped IPv6 (::ffff:a.b.c.d, RFC 4291 §2.5.5.2) and printed as IPv4: one address
 * has one form. Pure.
 */

const MAPPED = 0xffff

/** A mutable ip:port. Owners reuse their instance on the packet path; keep a `clone()` to remember one. */
export class Address {
  /** The 16 address bytes, big-endian, as signed 32-bit words. */
  w0 = 0
  w1 = 0
  w2 = MAPPED
  w3 = 0
  /** 0 to 65535. */
  port = 0
  #host: string | undefined

  /** Sets every part from words (any 32-bit integers). */
  set(w0: number, w1: number, w2: number, w3: number, port: number): this {
    this.w0 = w0 | 0
    this.w1 = w1 | 0
    this.w2 = w2 | 0
    this.w3 = w3 | 0
    this.port = port
    this.#host = undefined
    return this
  }

  /** Becomes equal to `other`. */
  copy(other: Address): this {
    this.w0 = other.w0
    this.w1 = other.w1
    this.w2 = other.w2
    this.w3 = other.w3
    this.port = other.port
    this.#host = other.#host
    return this
  }

  /** An equal address of its own. */
  clone(): Address {
    return new Address().copy(this)
  }

  /** Same ip and port. */
  equals(other: Address): boolean {
    return this.w3 === other.w3 && this.port === other.port && this.sameHost(other)
  }

  /** Same ip, whatever the port. */
  sameHost(other: Address): boolean {
    return this.w3 === other.w3 && this.w2 === other.w2 && this.w1 === other.w1 && this.w0 === other.w0
  }

  get isIPv4(): boolean {
    return this.w0 === 0 && this.w1 === 0 && this.w2 === MAPPED
  }

  /** 127.0.0.0/8 or ::1. */
  get isLoopback(): boolean {
    if (this.isIPv4) return this.w3 >>> 24 === 127
    return this.w0 === 0 && this.w1 === 0 && this.w2 === 0 && this.w3 === 1
  }

  /** 0.0.0.0 or ::. */
  get isUnspecified(): boolean {
    return this.w0 === 0 && this.w1 === 0 && this.w3 === 0 && (this.w2 === 0 || this.w2 === MAPPED)
  }

  /**
   * A 32-bit hash of ip and port under `seed`, for hash tables. The seed goes in before anything else is mixed, so
   * that nobody who does not know it can choose addresses that collide.
   */
  hash(seed: number): number {
    let h = Math.imul(seed ^ this.w3, 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 15) ^ this.port, 0xc2b2ae35)
    h = Math.imul(h ^ (h >>> 13) ^ this.w2, 0x27d4eb2f)
    h = Math.imul(h ^ (h >>> 16) ^ this.w1, 0x165667b1)
    h = Math.imul(h ^ (h >>> 15) ^ this.w0, 0x9e3779b1)
    return h ^ (h >>> 16)
  }

  /** The ip as text, canonical (RFC 5952; IPv4 dotted). Made once and kept. */
  get host(): string {
    this.#host ??= this.isIPv4 ? dotted(this.w3) : colons(this)
    return this.#host
  }

  /** `ip:port`, or `[ip]:port` for IPv6. */
  toString(): string {
    return this.isIPv4 ? `${this.host}:${this.port}` : `[${this.host}]:${this.port}`
  }

  /** So that logs and JSON print it as text. */
  toJSON(): string {
    return this.toString()
  }

  /** Reads 16 address bytes at `at` and takes the port as given. */
  read(bytes: Uint8Array, at: number, port: number): this {
    return this.set(word(bytes, at), word(bytes, at + 4), word(bytes, at + 8), word(bytes, at + 12), port)
  }

  /** Writes the 16 address bytes at `at`. */
  write(bytes: Uint8Array, at: number): void {
    put(bytes, at, this.w0)
    put(bytes, at + 4, this.w1)
    put(bytes, at + 8, this.w2)
    put(bytes, at + 12, this.w3)
  }

  /** Sets the ip from text; false, and nothing changed, when it is no ip. A zone (`%eth0`) is dropped. */
  parseHost(host: string, port: number): boolean {
    const v4 = parseDotted(host, 0, host.length)
    if (v4 !== undefined) {
      this.set(0, 0, MAPPED, v4, port)
      return true
    }
    return parseColons(this, host, port)
  }
}

/** An address from an ip and a port, or undefined when the ip is none or the port is out of range. */
export function toAddress(host: string, port: number): Address | undefined {
  if (!Number.isInteger(port) || port < 0 || port > 65535) return undefined
  const address = new Address()
  return address.parseHost(host, port) ? address : undefined
}

/** An address from `1.2.3.4:5` or `[::1]:5`, or undefined. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  if (!match) return undefined
  return toAddress(match[1] ?? match[2] ?? '', Number(match[3]))
}

function word(b: Uint8Array, at: number): number {
  return (b[at]! << 24) | (b[at + 1]! << 16) | (b[at + 2]! << 8) | b[at + 3]!
}

function put(b: Uint8Array, at: number, w: number): void {
  b[at] = w >>> 24
  b[at + 1] = w >>> 16
  b[at + 2] = w >>> 8
  b[at + 3] = w
}

function dotted(w: number): string {
  return `${w >>> 24}.${(w >>> 16) & 255}.${(w >>> 8) & 255}.${w & 255}`
}

/** A dotted quad without leading zeros in text[from, to), as a word. */
function parseDotted(text: string, from: number, to: number): number | undefined {
  let word = 0
  let parts = 0
  let value = 0
  let digits = 0
  for (let i = from; i <= to; i++) {
    const c = i < to ? text.charCodeAt(i) : 46
    if (c === 46) {
      if (digits === 0 || value > 255) return undefined
      word = (word << 8) | value
      parts++
      value = 0
      digits = 0
    } else if (c >= 48 && c <= 57 && digits < 3 && !(digits > 0 && value === 0)) {
      value = value * 10 + c - 48
      digits++
    } else return undefined
  }
  return parts === 4 ? word : undefined
}

function parseColons(into: Address, host: string, port: number): boolean {
  const zone = host.indexOf('%')
  const text = zone < 0 ? host : host.slice(0, zone)
  const halves = text.split('::')
  if (halves.length > 2 || !text.includes(':')) return false
  const head = groups(halves[0]!, halves.length === 1)
  const tail = halves.length === 2 ? groups(halves[1]!, true) : []
  if (!head || !tail) return false
  const gap = 8 - head.length - tail.length
  if (halves.length === 2 ? gap < 1 : gap !== 0) return false
  const all = [...head, ...new Array<number>(gap).fill(0), ...tail]
  const w = (i: number): number => (all[i]! << 16) | all[i + 1]!
  into.set(w(0), w(2), w(4), w(6), port)
  return true
}

/** The 16-bit groups of one side of `::`; a dotted quad counts for two, and stands at the end of all alone. */
function groups(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return []
  const out: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    if (isLast && i === parts.length - 1 && part.includes('.')) {
      const v4 = parseDotted(part, 0, part.length)
      if (v4 === undefined) return undefined
      out.push(v4 >>> 16, v4 & 0xffff)
    } else if (/^[0-9a-fA-F]{1,4}$/.test(part)) out.push(Number.parseInt(part, 16))
    else return undefined
  }
  return out
}

function colons(a: Address): string {
  const g = [a.w0, a.w1, a.w2, a.w3].flatMap((w) => [w >>> 16, w & 0xffff])
  let best = -1
  let length = 1
  for (let i = 0; i < 8; i++) {
    let n = 0
    while (i + n < 8 && g[i + n] === 0) n++
    if (n > length) {
      best = i
      length = n
    }
  }
  const hex = (part: number[]): string => part.map((x) => x.toString(16)).join(':')
  return best < 0 ? hex(g) : `${hex(g.slice(0, best))}::${hex(g.slice(best + length))}`
}
