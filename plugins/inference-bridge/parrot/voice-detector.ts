/** Says of each 10 ms of sound whether somebody speaks: WebRTC's detector, one for each call, in one WASM memory. */

import load, { type Fvad } from '@echogarden/fvad-wasm'

/** The rate it is given. */
export const RATE = 16_000
/** What it looks at at a time. */
export const STEP_MS = 10
/** Bytes of that. */
export const STEP_BYTES = (RATE / 1000) * STEP_MS * 2

/** Makes detectors. */
export class VoiceDetectors {
  readonly #fvad: Fvad
  /** Where samples lie while they are looked at: calls take turns. */
  readonly #samples: number

  private constructor(fvad: Fvad) {
    this.#fvad = fvad
    this.#samples = fvad._malloc(STEP_BYTES)
  }

  /** Loads the library, once for all calls. */
  static async load(): Promise<VoiceDetectors> {
    return new VoiceDetectors(await load())
  }

  /** A detector; `strictness` from 0, which hears most, to 3. Close it. */
  open(strictness: number): VoiceDetector {
    return new VoiceDetector(this.#fvad, this.#samples, strictness)
  }
}

/** One call's detector. */
export class VoiceDetector {
  readonly #fvad: Fvad
  readonly #samples: number
  #handle: number

  constructor(fvad: Fvad, samples: number, strictness: number) {
    this.#fvad = fvad
    this.#samples = samples
    this.#handle = fvad._fvad_new()
    fvad._fvad_set_mode(this.#handle, strictness)
    fvad._fvad_set_sample_rate(this.#handle, RATE)
  }

  /** Whether there is a voice in STEP_BYTES of samples. */
  hears(step: Buffer): boolean {
    if (this.#handle === 0) return false
    const heap = this.#fvad.HEAP16
    for (let i = 0; i < STEP_BYTES; i += 2) heap[(this.#samples + i) >> 1] = step.readInt16LE(i)
    return this.#fvad._fvad_process(this.#handle, this.#samples, STEP_BYTES / 2) === 1
  }

  /** Frees it. Idempotent. */
  close(): void {
    if (this.#handle !== 0) this.#fvad._fvad_free(this.#handle)
    this.#handle = 0
  }
}
