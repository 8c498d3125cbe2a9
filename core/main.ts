/** The command line: `earshot run FILE | check FILE | schema [--write] | trace SESSION | version | help`. */

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { callIds } from './call-ids.ts'
import { hintFor } from './config/suggest.ts'
import { openEarly } from './early-start.ts'
import { EdgeError } from './errors.ts'
import { VERSION } from './version.ts'

/** Exit codes, from sysexits.h. */
const USAGE = 64
const CONFIG = 78

const HELP = `Earshot ${VERSION}: a voice AI edge.

  earshot run FILE          run the edge that a config file describes
  earshot check FILE        say whether a config file is right, and what is wrong with it
  earshot schema [--write]  print the config's JSON Schema for editors; --write makes it ./edge.schema.json
  earshot trace SESSION     print the trace id of a call, from its session's 16 hex digits
  earshot version           print the version
  earshot help              print this

FILE is an edge.config.json. Exit codes: 0 done, 1 failed, 64 wrong usage, 78 wrong config.
`

const COMMANDS: Readonly<Record<string, (args: readonly string[]) => Promise<number | undefined>>> = {
  run: (args) => withFile('run', args, start),
  check: (args) => withFile('check', args, check),
  schema,
  trace,
  version: async () => print(`${VERSION}\n`),
  help: async () => print(HELP),
}

const ALIASES: Readonly<Record<string, string>> = {
  '--version': 'version',
  '-v': 'version',
  '--help': 'help',
  '-h': 'help',
}

async function main([first, ...args]: readonly string[]): Promise<number | undefined> {
  if (first === undefined) return complain(HELP)
  const name = ALIASES[first] ?? first
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (!command) {
    const hint = hintFor(first, Object.keys(COMMANDS), 'see: earshot help')
    return complain(`there is no command "${first}"; ${hint}\n`)
  }
  return command(args)
}

async function withFile(
  name: string,
  args: readonly string[],
  command: (file: string) => Promise<number | undefined>,
): Promise<number | undefined> {
  const [file, ...more] = args
  if (file === undefined || more.length > 0 || file.startsWith('-')) {
    return complain(`usage: earshot ${name} FILE\n`)
  }
  return command(file)
}

/** The relay's sockets first: what clients send meanwhile waits in them. All else loads after. */
async function start(file: string): Promise<undefined> {
  await openEarly(file)
  const { run } = await import('./run.ts')
  return run(file, fail)
}

async function check(file: string): Promise<number> {
  const { load } = await import('./config/load.ts')
  const { order } = await load(file)
  const ids = order.map(({ id }) => id)
  const count = ids.length === 1 ? '1 plugin' : `${ids.length} plugins`
  return print(
    `${file} is valid: ${count}${ids.length > 0 ? `, set up in this order: ${ids.join(', ')}` : ''}\n`,
  )
}

async function schema(args: readonly string[]): Promise<number> {
  const [flag, ...more] = args
  if ((flag !== undefined && flag !== '--write') || more.length > 0) {
    return complain('usage: earshot schema [--write]\n')
  }
  const { editorSchemaText } = await import('./config/editor-schema.ts')
  const { builtIns } = await import('./find-plugin.ts')
  const text = editorSchemaText(await builtIns())
  if (flag === undefined) return print(text)
  const path = resolve('edge.schema.json')
  writeFileSync(path, text)
  return print(`${path} written\n`)
}

async function trace([session, ...more]: readonly string[]): Promise<number> {
  if (session === undefined || !/^[0-9a-f]{16}$/i.test(session) || more.length > 0) {
    return complain(
      'usage: earshot trace SESSION, 16 hex digits, as log lines and GET /transceiver/sessions have them\n',
    )
  }
  return print(`${callIds(Buffer.from(session, 'hex')).traceId}\n`)
}

function print(text: string): 0 {
  process.stdout.write(text)
  return 0
}

function complain(text: string): number {
  process.stderr.write(text)
  return USAGE
}

function fail(error: unknown, redact = (text: string): string => text): number {
  const known = error instanceof EdgeError
  const text = known ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`${redact(text ?? '')}\n`)
  return known && error.code === 'config_invalid' ? CONFIG : 1
}

// A reader that goes away (`earshot check … | head`) is no reason to crash.
process.stdout.on('error', () => {})
process.stderr.on('error', () => {})

try {
  const code = await main(process.argv.slice(2))
  if (code !== undefined) process.exitCode = code
} catch (error) {
  process.exit(fail(error))
}
