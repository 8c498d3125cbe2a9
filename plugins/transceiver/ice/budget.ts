/**
 * How much may be sent to an address that has proven nothing: three times what came from it, all sends counted
 * (RFC 9000 §8.1 has the same rule). Pure.
 */

const FACTOR = 3

/** The account of one unvalidated address. */
export class Budget {
  #received = 0
  #sent = 0

  /** `length` bytes came from there. */
  credit(length: number): void {
    this.#received += length
  }

  /** Whether `length` bytes may be sent there now; counts them when they may. */
  take(length: number): boolean {
    if (this.#sent + length > FACTOR * this.#received) return false
    this.#sent += length
    return true
  }
}
