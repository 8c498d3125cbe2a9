/** What a benchmark hands back. Figures count as ratios within one run; absolute values are the machine's. */

/** Something measured in the same run, for comparison. */
export interface BenchPeer {
  readonly label: string
  readonly value: number
  /** Our value divided by the peer's. */
  readonly ratio: number
}

/** One measured figure. */
export interface BenchFigure {
  readonly label: string
  readonly value: number
  /** "µs", "KB" and so on. */
  readonly unit: string
  readonly peers: readonly BenchPeer[]
  /** What it should be, in words. */
  readonly target?: string
  readonly met?: boolean
}

/** The figures of one benchmark. */
export interface BenchResult {
  readonly name: string
  readonly figures: readonly BenchFigure[]
  /** What one should know to read them: versions, peers that are missing. */
  readonly notes?: readonly string[]
}

/** How to run: `quick` is a smoke test whose figures mean little. */
export interface BenchOptions {
  readonly quick: boolean
}
