/** Loaded configs and plugins made in memory, for tests of the host. */

import { Writable } from 'node:stream'
import { pino } from 'pino'
import type { Loaded } from '../../../core/config/load.ts'
import { isObject } from '../../../core/config/pointer.ts'
import { RootConfig } from '../../../core/config/root-schema.ts'
import { validate } from '../../../core/config/validate.ts'
import { wire } from '../../../core/graph.ts'
import { definePlugin, type Plugin, Type } from '../../../core/index.ts'

const NOTHING = { placeholders: new Map<string, string>(), missing: new Set<string>() }

function isConfig(value: unknown, sound: boolean): value is RootConfig {
  return isObject(value) && sound
}

/** A loaded config whose listeners take any port; `root` are sections of the file, `plugins` come as they are. */
export function loadedWith(plugins: Readonly<Record<string, Plugin>>, root: object = {}): Loaded {
  const base = { http: { listen: '127.0.0.1:0' }, admin: { listen: '127.0.0.1:0' }, ...root }
  const uses = Object.fromEntries(Object.keys(plugins).map((id) => [id, { use: './none.ts' }]))
  const { value, problems } = validate(RootConfig, { ...base, plugins: uses }, '', NOTHING)
  if (!isConfig(value, problems.length === 0)) throw new Error(JSON.stringify(problems))
  const instances = Object.entries(plugins).map(([id, plugin]) => ({
    id,
    plugin,
    use: './none.ts',
    options: {},
    bind: {},
  }))
  const { order, problems: wrong } = wire(instances)
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong))
  const node = { cluster: 1, advertise: undefined, reachable: false }
  return { file: 'edge.config.json', config: value, node, order, redact: (text) => text }
}

/** A plugin that does only what is given. */
export function plain(setup: Plugin['setup'], rest: Partial<Plugin> = {}): Plugin {
  return definePlugin({ name: 'plain', api: 1, options: Type.Object({}), ...rest, setup })
}

/** A log, and what was written to it, parsed. */
export function recordedLog(level = 'debug') {
  const entries: Record<string, unknown>[] = []
  const sink = new Writable({
    write(chunk, _encoding, done) {
      entries.push(JSON.parse(String(chunk)))
      done()
    },
  })
  return { log: pino({ level, base: null }, sink), entries }
}
