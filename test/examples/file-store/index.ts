/**
 * A recovery store in a folder that relays share, a file for each client. It is an example of
 * docs/guides/write-a-codec-or-a-store.md, and can be copied into a folder of its own as it is.
 */

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Address, definePlugin, parseAddress, type Recovered, RecoveryStore, Type } from 'earshot'

const TTL_MS = 30_000
/** Writes that may wait for the disk. */
const MAX_WAITING = 1000

class FileStore implements RecoveryStore {
  readonly #folder: string
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  constructor(folder: string) {
    this.#folder = folder
  }

  remember(advertised: Address, client: Address, { cluster, transceiver, session }: Recovered): void {
    const entry = {
      cluster,
      transceiver: String(transceiver),
      session: Buffer.from(session).toString('hex'),
      expires: Date.now() + TTL_MS,
    }
    const file = this.#file(advertised, client)
    this.#behind(() => writeFile(file, JSON.stringify(entry)))
  }

  forget(advertised: Address, client: Address, transceiver: Address): void {
    const [file, gone] = [this.#file(advertised, client), String(transceiver)]
    this.#behind(async () => {
      if (String((await read(file))?.transceiver) === gone) await rm(file)
    })
  }

  async recall(advertised: Address, client: Address, signal: AbortSignal): Promise<Recovered | undefined> {
    signal.throwIfAborted()
    return read(this.#file(advertised, client))
  }

  /** One write after the other, in the background; what fails costs recovery and nothing else. */
  #behind(write: () => Promise<unknown>): void {
    if (this.#waiting >= MAX_WAITING) return
    this.#waiting++
    this.#last = this.#last
      .then(write)
      .catch(() => {})
      .finally(() => this.#waiting--)
  }

  #file(advertised: Address, client: Address): string {
    return join(this.#folder, encodeURIComponent(`${advertised} ${client}`))
  }
}

/** What a file holds, if that is an entry which has not expired; the relay checks where it leads. */
async function read(file: string): Promise<Recovered | undefined> {
  try {
    const { cluster, transceiver, session, expires } = JSON.parse(await readFile(file, 'utf8'))
    const address = parseAddress(transceiver)
    if (!address || !(expires > Date.now())) return undefined
    return {
      cluster: Number(cluster),
      transceiver: address,
      session: new Uint8Array(Buffer.from(session, 'hex')),
    }
  } catch {
    return undefined
  }
}

export default definePlugin({
  name: 'file-store',
  api: 1,
  options: Type.Object({ folder: Type.String({ description: 'Every relay must reach it.' }) }),
  provides: { recovery: RecoveryStore },
  async setup({ folder }) {
    await mkdir(folder, { recursive: true })
    return { recovery: new FileStore(folder) }
  },
})
