/** A server that speaks enough RESP2 for a client to connect, and answers the rest when a test says so, or never. */

import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'

/** A command as it came, in text. */
export type FakeCommand = readonly string[]

/** What it says to a command: RESP2 as it is written on the wire, or undefined to hold the answer until `release`. */
export type FakeAnswer = (command: FakeCommand) => string | undefined

/** Answers to what clients say before they begin. */
const GREETING: Readonly<Record<string, string>> = {
  CLIENT: '+OK\r\n',
  SELECT: '+OK\r\n',
  INFO: bulk('loading:0'),
}

/** A text as a RESP2 bulk string. */
export function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

/** One such server on a free port of 127.0.0.1. */
export class FakeRedis implements AsyncDisposable {
  /** What came, without the greeting. */
  readonly commands: FakeCommand[] = []
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  readonly #held: Socket[] = []

  private constructor(answer: FakeAnswer) {
    this.#server = createServer((socket) => this.#serve(socket, answer))
  }

  static async start(answer: FakeAnswer): Promise<FakeRedis> {
    const fake = new FakeRedis(answer)
    fake.#server.listen(0, '127.0.0.1')
    await once(fake.#server, 'listening')
    return fake
  }

  get url(): string {
    const address = this.#server.address()
    return typeof address === 'object' && address !== null ? `redis://127.0.0.1:${address.port}` : ''
  }

  /** How many commands of this name came. */
  count(name: string): number {
    return this.commands.filter((command) => command[0] === name).length
  }

  /** Answers the oldest `count` of what was held; all of it without one. */
  release(answer: string, count = Number.POSITIVE_INFINITY): void {
    for (const socket of this.#held.splice(0, count)) socket.write(answer)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #serve(socket: Socket, answer: FakeAnswer): void {
    this.#sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => this.#sockets.delete(socket))
    let rest = ''
    socket.on('data', (chunk) => {
      rest += chunk.toString('latin1')
      for (let read = readCommand(rest); read; read = readCommand(rest)) {
        rest = rest.slice(read.length)
        this.#take(socket, read.command, answer)
      }
    })
  }

  #take(socket: Socket, [name = '', ...args]: FakeCommand, answer: FakeAnswer): void {
    const command = [name.toUpperCase(), ...args]
    const said = answer(command)
    const reply = said ?? GREETING[command[0]!]
    if (!(command[0]! in GREETING)) this.commands.push(command)
    if (reply === undefined) this.#held.push(socket)
    else socket.write(reply)
  }
}

/** The first whole command in a text, and how long it is. */
function readCommand(text: string): { command: string[]; length: number } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (!head) return undefined
  const command: string[] = []
  let at = head[0].length
  for (let i = 0; i < Number(head[1]); i++) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at, at + 20))
    if (!size) return undefined
    const from = at + size[0].length
    at = from + Number(size[1]) + 2
    if (text.length < at) return undefined
    command.push(text.slice(from, at - 2))
  }
  return { command, length: at }
}
