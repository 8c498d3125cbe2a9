/** Base32 in a–z2–7 (RFC 4648 §6, lower case, no padding). One text for each byte string and no other. Pure. */

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const NONE = 255
const VALUES = new Uint8Array(256).fill(NONE)
for (let i = 0; i < ALPHABET.length; i++) VALUES[ALPHABET.charCodeAt(i)] = i

/** How many characters `length` bytes take. */
export function base32Length(length: number): number {
  return Math.ceil((length * 8) / 5)
}

/** Bytes as text. */
export function toBase32(bytes: Uint8Array): string {
  let text = ''
  let held = 0
  let bits = 0
  for (const byte of bytes) {
    held = ((held << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += ALPHABET[(held >>> bits) & 31]
    }
  }
  return bits > 0 ? text + ALPHABET[(held << (5 - bits)) & 31] : text
}

/**
 * Reads text[start, end) into all of `into`; false when a character is none of the alphabet's, the length does not
 * fit, or the last character's spare bits are not zero. `into` is then in no particular state.
 */
export function fromBase32(text: Uint8Array, start: number, end: number, into: Uint8Array): boolean {
  if (end - start !== base32Length(into.length)) return false
  let held = 0
  let bits = 0
  let at = 0
  for (let i = start; i < end; i++) {
    const value = VALUES[text[i]!]!
    if (value === NONE) return false
    held = ((held << 5) | value) & 0xfff
    bits += 5
    if (bits >= 8) {
      bits -= 8
      into[at++] = held >>> bits
    }
  }
  return (held & ((1 << bits) - 1)) === 0
}

/** The first 16 bits of text[start, …), or -1 when a character is none of the alphabet's. Needs 4 characters. */
export function firstBytes(text: Uint8Array, start: number): number {
  const a = VALUES[text[start]!]!
  const b = VALUES[text[start + 1]!]!
  const c = VALUES[text[start + 2]!]!
  const d = VALUES[text[start + 3]!]!
  if (a === NONE || b === NONE || c === NONE || d === NONE) return -1
  return ((a << 15) | (b << 10) | (c << 5) | d) >>> 4
}
