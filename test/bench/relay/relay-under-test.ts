/** A relay's process, started and bound. */

import type { ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { type Collections, countCollections } from './collections.ts'
import type { Contender, Target } from './contenders.ts'
import { spawnPinned, stop } from './pinned.ts'
import { isBound } from './proc.ts'
import type { Place } from './product.ts'

const START_WITHIN_MS = 20_000

/** Ports are tried below where Linux takes a client's from: nginx needs those. */
const FIRST_PORT = 20_000
const LAST_PORT = 32_000

/** Ports that somebody here was told are free. */
const given = new Set<number>()

/** One that runs. It is stopped at the end of the scope: `await using`. */
export class RelayUnderTest implements AsyncDisposable, Target {
  readonly contender: Contender
  readonly port: number
  readonly pid: number
  /** Nothing is counted unless it is Node. */
  readonly collections: Collections
  /** Datagrams that it has forwarded in the samples so far. */
  forwarded = 0
  readonly #child: ChildProcess

  private constructor(contender: Contender, port: number, child: ChildProcess, collections: Collections) {
    this.contender = contender
    this.port = port
    this.pid = child.pid!
    this.collections = collections
    this.#child = child
  }

  /** Starts one on these processors and waits until its port is bound. */
  static async start(
    contender: Contender,
    cpus: readonly number[],
    { folder, transceiver }: Pick<Place, 'folder' | 'transceiver'>,
  ): Promise<RelayUnderTest> {
    const port = await freePorts(1)
    // One for each of its workers, next to each other.
    const upstream = await freePorts(contender.cpus)
    const command = await contender.command({ folder, port, upstream, transceiver })
    const child = spawnPinned(cpus, command, { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      const collections = countCollections(child.stdout!)
      await untilBound(child, port, contender.name)
      return new RelayUnderTest(contender, port, child, collections)
    } catch (error) {
      await stop(child)
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await stop(this.#child)
  }
}

async function untilBound(child: ChildProcess, port: number, name: string): Promise<void> {
  let failure: Error | undefined
  child.once('error', (error) => {
    failure = error
  })
  const until = performance.now() + START_WITHIN_MS
  while (!isBound(port)) {
    if (failure) throw failure
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${name} stopped before it listened`)
    if (performance.now() > until) throw new Error(`${name} does not listen`)
    await delay(2)
  }
}

/** The first of so many UDP ports next to each other that are free now. */
export async function freePorts(count: number): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const first = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT))
    const ports = Array.from({ length: count }, (_, i) => first + i)
    if (ports.some((port) => given.has(port))) continue
    for (const port of ports) given.add(port)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first
  }
  throw new Error(`no ${count} free UDP ports between ${FIRST_PORT} and ${LAST_PORT}`)
}

async function isFree(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  try {
    const bound = once(socket, 'listening')
    socket.bind(port, '127.0.0.1')
    await bound
    return true
  } catch {
    return false
  } finally {
    socket.close()
  }
}
