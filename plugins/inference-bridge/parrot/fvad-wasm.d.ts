/** The part of @echogarden/fvad-wasm that is used here; the package has no types of its own. */
declare module '@echogarden/fvad-wasm' {
  /** WebRTC's voice activity detector, compiled: handles and pointers are numbers. */
  export interface Fvad {
    readonly HEAP16: Int16Array
    _malloc(bytes: number): number
    _fvad_new(): number
    _fvad_free(detector: number): void
    /** 0 hears most, 3 is the hardest to convince. */
    _fvad_set_mode(detector: number, mode: number): number
    _fvad_set_sample_rate(detector: number, rate: number): number
    /** 1 for voice, 0 for none, -1 for a length that is not 10, 20 or 30 ms. */
    _fvad_process(detector: number, samples: number, length: number): number
  }
  export default function load(): Promise<Fvad>
}
