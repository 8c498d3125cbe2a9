/** Everybody who is measured here, and who is missing and why. */

import { type Contender, cLoop, goRelay, nginxStream, product } from './contenders.ts'
import { unknownOptions, type Variant } from './product.ts'
import { buildC, buildGo, findNginx, type Program } from './programs.ts'

/** Microseconds that both coalescing variants may wait: the most that the option allows. */
const COALESCE = 300

/** The names of the relays, as figures call them. */
export const NAMES = {
  c: 'C loop',
  cCoalescing: 'C loop, coalescing',
  cSegments: 'C loop, segments',
  go: 'Go',
  nginx: 'nginx stream',
  ours: 'ours',
  coalescing: 'ours, coalescing',
  segments: 'ours, segments',
  eventLoop: 'ours, on the event loop',
  dgram: 'ours, dgram',
  twoWorkers: 'ours, two workers',
  none: 'no relay',
} as const

/** Those that a quick run looks at. */
const QUICK: ReadonlySet<string> = new Set([NAMES.c, NAMES.nginx, NAMES.ours, NAMES.coalescing, NAMES.dgram])

/** Who takes part, and notes for whoever reads the figures. */
export interface LineUp {
  readonly contenders: readonly Contender[]
  readonly notes: readonly string[]
}

const VARIANTS: readonly [string, Variant, (1 | 2)?][] = [
  [NAMES.ours, { options: { workers: 1 } }],
  [NAMES.coalescing, { options: { workers: 1, coalesceMicroseconds: COALESCE } }],
  [NAMES.segments, { options: { workers: 1, segments: true } }],
  [NAMES.eventLoop, { options: { workers: 0 } }],
  [NAMES.dgram, { udp: 'dgram', options: { workers: 0 } }],
  [NAMES.twoWorkers, { options: { workers: 2 } }, 2],
]

/** Builds and finds them; `folder` takes what is built. A quick run has no time to build the Go relay. */
export async function lineUp(folder: string, quick: boolean): Promise<LineUp> {
  const [c, go, nginx] = await Promise.all([
    buildC(folder),
    quick ? { missing: 'the Go relay: left out, since building it is not quick' } : buildGo(folder),
    findNginx(),
  ])
  const variants = VARIANTS.map(([name, variant, cpus]) => ({ name, variant, cpus }))
  const unknown = variants.flatMap(({ name, variant }) =>
    unknownOptions(variant).map((option) => `missing: ${name}: the relay has no option "${option}"`),
  )
  const known = variants.filter(({ variant }) => unknownOptions(variant).length === 0)
  const all = [
    ...from(c, (command) => [
      cLoop(NAMES.c, command, 0, false),
      cLoop(NAMES.cCoalescing, command, COALESCE, false),
      cLoop(NAMES.cSegments, command, 0, true),
    ]),
    ...from(go, (command) => [goRelay(NAMES.go, command)]),
    ...from(nginx, (command) => [nginxStream(NAMES.nginx, command)]),
    ...known.map(({ name, variant, cpus }) => product(name, variant, cpus)),
  ]
  return {
    contenders: quick ? all.filter(({ name }) => QUICK.has(name)) : all,
    notes: [...[c, go, nginx].map(noteOf), ...unknown],
  }
}

function from(program: Program, make: (command: string) => Contender[]): Contender[] {
  return 'command' in program ? make(program.command) : []
}

function noteOf(program: Program): string {
  return 'missing' in program ? `missing: ${program.missing}` : program.version
}
