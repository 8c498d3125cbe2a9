/** A session's 8 bytes as two words of a record. */

/** Writes them; a session that there is none of is zeros. */
export function writeSession(words: Int32Array, at: number, session: Uint8Array | undefined): void {
  for (let i = 0; i < 2; i++) {
    let word = 0
    for (let b = 0; b < 4; b++) word = (word << 8) | (session?.[i * 4 + b] ?? 0)
    words[at + i] = word
  }
}

/** Reads them into 8 bytes. */
export function readSession(words: Int32Array, at: number, into: Uint8Array): void {
  for (let i = 0; i < 8; i++) into[i] = words[at + (i >> 2)]! >>> (24 - 8 * (i & 3))
}
