/** Pion as a server, built with Go from `main.go` beside this file. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

const SOURCE = import.meta.dirname
const PROGRAM = join(SOURCE, '..', '..', '..', 'node_modules', '.cache', 'pion', 'server')

/** Builds it, if need be; or says why there is none. */
export function buildPion(): { program: string } | { missing: string } {
  if (spawnSync('go', ['version']).status !== 0) return { missing: 'Go is not installed' }
  mkdirSync(join(PROGRAM, '..'), { recursive: true })
  const built = spawnSync('go', ['build', '-o', PROGRAM, '.'], { cwd: SOURCE, encoding: 'utf8' })
  if (built.status === 0) return { program: PROGRAM }
  return { missing: `Go does not build it: ${built.stderr.trim().split('\n').at(-1)}` }
}

/** How the server comes by its ufrag; without, it makes one. */
export interface PionCredentials {
  readonly ufrag: string
  readonly pwd: string
}

/** A server with one call. Stop it: `using`. */
export class Pion implements Disposable {
  readonly answer: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, answer: string) {
    this.#child = child
    this.answer = answer
  }

  /** Starts it at a UDP port of 127.0.0.1 and has it answer. */
  static async start(
    program: string,
    port: number,
    offer: string,
    credentials?: PionCredentials,
  ): Promise<Pion> {
    const given = credentials ? ['-ufrag', credentials.ufrag, '-pwd', credentials.pwd] : []
    const child = spawn(program, ['-port', String(port), ...given], { stdio: ['pipe', 'pipe', 'inherit'] })
    child.stdin.end(offer)
    const failed = once(child, 'exit').then(([code]) => {
      throw new Error(`Pion ended with ${code}`)
    })
    failed.catch(() => {})
    return new Pion(child, await Promise.race([text(child.stdout), failed]))
  }

  [Symbol.dispose](): void {
    this.#child.kill('SIGKILL')
  }
}
