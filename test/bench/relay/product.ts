/** Our relay as a process under measurement: the command line, a config with a codec and a relay, and nothing else. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Options } from '../../../plugins/relay/options.ts'
import { LOAD_KEY } from './load-protocol.ts'

const ROOT = join(import.meta.dirname, '..', '..', '..')

/** As many as the relay can have, so that one process serves samples of any size. */
export const MAX_FLOWS = 1_048_576

/** What makes a variant: the engine, and options of the relay. */
export interface Variant {
  readonly udp?: 'auto' | 'batched' | 'dgram'
  readonly options?: Readonly<Record<string, unknown>>
}

/** The options of a variant that this relay does not have. */
export function unknownOptions({ options = {} }: Variant): string[] {
  return Object.keys(options).filter((name) => !Object.hasOwn(Options.properties, name))
}

/** Where it is to be, and the transceiver that it may forward to. */
export interface Place {
  readonly folder: string
  readonly port: number
  readonly upstream: number
  readonly transceiver: number
}

/** Writes its config and gives the command that runs it. `node` are options for its Node. */
export async function productCommand(
  place: Place,
  variant: Variant,
  node: readonly string[],
): Promise<string[]> {
  const file = join(place.folder, `relay-${place.port}.json`)
  await writeFile(file, JSON.stringify(config(place, variant)))
  return [process.execPath, ...node, join(ROOT, 'core', 'main.ts'), 'run', file]
}

function config({ port, upstream, transceiver }: Place, { udp = 'auto', options = {} }: Variant): object {
  return {
    node: { cluster: 1, udp },
    http: { listen: '127.0.0.1:0' },
    admin: { listen: '127.0.0.1:0' },
    plugins: {
      codec: {
        use: join(ROOT, 'plugins', 'routing-codec', 'sealed', 'index.ts'),
        options: { keys: [LOAD_KEY] },
      },
      relay: {
        use: join(ROOT, 'plugins', 'relay', 'index.ts'),
        options: {
          listen: [`127.0.0.1:${port}`],
          upstream: `127.0.0.1:${upstream}`,
          allow: { cidrs: ['127.0.0.1/32'], ports: String(transceiver) },
          maxFlows: MAX_FLOWS,
          ...options,
        },
      },
    },
  }
}
