/** Builds Jaeger from source with Go, once; the program stays in node_modules/.cache. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const MODULE = 'github.com/jaegertracing/jaeger'
const CACHE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'jaeger')

/** In this order: v2.20.0 by its commit, and what module proxies have that do not serve it. */
const VERSIONS = ['798e4b0fcf22', 'v1.76.0'] as const

/** The program's path, built if need be; or why there is none. Building takes minutes. */
export function buildJaeger(): { program: string } | { missing: string } {
  const built = VERSIONS.map(programOf).find(existsSync)
  if (built) return { program: built }
  if (spawnSync('go', ['version']).status !== 0) return { missing: 'Go is not installed' }
  const complaints: string[] = []
  for (const version of VERSIONS) {
    console.log(`building ${MODULE}/cmd/jaeger@${version}; this takes some minutes`)
    const complaint = build(version)
    if (complaint === undefined) return { program: programOf(version) }
    console.log(`${version} is not to be had: ${complaint}`)
    complaints.push(`${version}: ${complaint}`)
  }
  return { missing: complaints.join('; ') }
}

const programOf = (version: string): string => join(CACHE, `jaeger-${version}`)

/** Undefined when it is built, otherwise what Go said last. */
function build(version: string): string | undefined {
  const folder = join(CACHE, `source-${version}`)
  const unfinished = join(folder, 'jaeger')
  const steps = [
    ['mod', 'init', 'earshot.test/jaeger'],
    ['get', `${MODULE}/cmd/jaeger@${version}`],
    ['build', '-o', unfinished, `${MODULE}/cmd/jaeger`],
  ]
  mkdirSync(folder, { recursive: true })
  try {
    for (const step of steps) {
      const complaint = go(folder, step)
      if (complaint !== undefined) return complaint
    }
    renameSync(unfinished, programOf(version))
    return undefined
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function go(folder: string, args: readonly string[]): string | undefined {
  const env = { ...process.env, GOFLAGS: '-mod=mod' }
  const ran = spawnSync('nice', ['-n', '19', 'go', ...args], { cwd: folder, env, encoding: 'utf8' })
  return ran.status === 0 ? undefined : (ran.stderr.trim().split('\n').at(-1) ?? 'go failed').trim()
}
