/** A relay as a process of its own, behind a balancer: killed by kill -9, started again at its addresses, and asked. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, parseAddress } from '../../core/index.ts'
import { ROOT } from './edge.ts'
import { type EdgeProcess, startProcess } from './edge-processes.ts'

/** What `GET /relay/flows` says of one. */
interface Flow {
  readonly routes: readonly { readonly state: string }[]
  readonly packets: { readonly up: number; readonly down: number }
}

/** One that runs, or has been killed; it and its files are gone at the end of the scope. */
export class RelayProcess implements AsyncDisposable {
  readonly #folder: string
  #process: EdgeProcess

  private constructor(folder: string, process: EdgeProcess) {
    this.#folder = folder
    this.#process = process
  }

  /** Starts one from a config whose `use` paths begin with `./` at the repository. */
  static async start(config: object): Promise<RelayProcess> {
    const folder = await mkdtemp(join(tmpdir(), 'earshot-relay-'))
    const file = join(folder, 'edge.config.json')
    try {
      await writeFile(file, JSON.stringify(config).replaceAll('"use":"./', `"use":"${ROOT}/`))
      return new RelayProcess(folder, await startProcess(file))
    } catch (error) {
      await rm(folder, { recursive: true })
      throw error
    }
  }

  /** Where its public socket is bound. */
  get address(): Address {
    const address = parseAddress(this.#process.addresses.relay)
    if (!address) throw new Error('the relay has not said where it listens')
    return address
  }

  /** Kills it as a crash does and returns at once; `gone` waits. */
  kill(): void {
    this.#process.signal('SIGKILL')
  }

  async gone(): Promise<void> {
    await this.#process.exited
  }

  /** Starts it again at the addresses that it had; kill it first. */
  async restart(): Promise<void> {
    await this.gone()
    this.#process = await this.#process.again()
  }

  /** Waits until it has logged a message. */
  async logged(message: string): Promise<void> {
    await this.#process.logged(message, 10_000)
  }

  /** A metric's value, as `EdgeProcess.metric` has it, since it was started last. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
    return this.#process.metric(name, labels)
  }

  /** Datagrams dropped as no route was known. */
  noRoute(): Promise<number> {
    return this.metric('relay_drops_total', { reason: 'no_route' })
  }

  /** Datagrams that came to the public socket. */
  arrived(): Promise<number> {
    return this.metric('relay_socket_datagrams_total', { socket: String(this.address), direction: 'in' })
  }

  /** Its only flow: the states of the routes, and the packets that went through. */
  async flow(): Promise<{ readonly states: readonly string[]; readonly up: number; readonly down: number }> {
    const { flows } = await this.#process.ask<{ flows: Flow[] }>('/relay/flows')
    const states = (flows[0]?.routes ?? []).map(({ state }) => state)
    return { states, ...(flows[0]?.packets ?? { up: 0, down: 0 }) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.kill()
    await rm(this.#folder, { recursive: true, force: true })
  }
}
