/** Who is measured, and how each is started. */

import type { UfragForm } from './load-protocol.ts'
import { type Place, productCommand, type Variant } from './product.ts'
import { writeNginxConfig } from './programs.ts'

/** One relay under measurement. */
export interface Contender {
  readonly name: string
  readonly form: UfragForm
  /** How many processors it gets. */
  readonly cpus: 1 | 2
  /** Threads that are busy at once wait for each other, so its waiting says nothing of neighbours. */
  readonly hasSeveralThreads: boolean
  /** Whether it can have more flows than there are ports. */
  readonly hasManyFlows: boolean
  /** Whether what it prints tells of its garbage collections. */
  readonly isNode: boolean
  command(place: Place): Promise<readonly string[]>
}

/** Where samples are taken: a relay that runs, or the transceiver alone. */
export interface Target {
  readonly contender: Pick<Contender, 'name' | 'form' | 'cpus' | 'hasSeveralThreads'>
  readonly port: number
  readonly pid: number
  /** Datagrams that it has forwarded in the samples so far. */
  forwarded: number
}

/** The C loop, plain or with coalescing in microseconds or segments. */
export function cLoop(name: string, command: string, coalesce: number, segments: boolean): Contender {
  return {
    ...base(name),
    command: async ({ port }) => [command, String(port), String(coalesce), segments ? '1' : '0'],
  }
}

/** The Go relay. */
export function goRelay(name: string, command: string): Contender {
  return { ...base(name), hasSeveralThreads: true, command: async ({ port }) => [command, String(port)] }
}

/** nginx stream: a socket towards the transceiver for each client. */
export function nginxStream(name: string, command: string): Contender {
  return {
    ...base(name),
    hasManyFlows: false,
    command: async ({ folder, port, transceiver }) => [
      command,
      '-c',
      await writeNginxConfig(folder, port, transceiver),
    ],
  }
}

/** Our relay. */
export function product(name: string, variant: Variant, cpus: 1 | 2 = 1): Contender {
  return {
    ...base(name),
    form: 'sealed',
    cpus,
    hasSeveralThreads: cpus > 1,
    isNode: true,
    command: (place) => productCommand(place, variant, ['--trace-gc']),
  }
}

function base(name: string): Omit<Contender, 'command'> {
  return { name, form: 'hex', cpus: 1, hasSeveralThreads: false, hasManyFlows: true, isNode: false }
}
