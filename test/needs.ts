/**
 * The programs some tests need beyond npm's packages: found, installed with apt where that is allowed, or named.
 *
 * Locally a missing program makes its tests skip with a reason; with CI=true a program that apt can install must be
 * there, so a skip for it is a failure.
 */

import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program that tests need. */
export interface Need {
  /** Any of these on the PATH will do. */
  readonly commands: readonly string[]
  /** Debian's package. */
  readonly apt: string
  readonly why: string
}

/** What the suite needs, by name. */
export const NEEDS = {
  chromium: {
    commands: ['chromium', 'chromium-browser', 'google-chrome'],
    apt: 'chromium',
    why: 'browser tests',
  },
  openssl: { commands: ['openssl'], apt: 'openssl', why: 'DTLS interop tests' },
  redis: { commands: ['redis-server'], apt: 'redis-server', why: 'recovery through Redis' },
} as const satisfies Record<string, Need>

/** The name of a need. */
export type NeedName = keyof typeof NEEDS

/** The path of the program behind a need, or undefined. */
export function findProgram(name: NeedName): string | undefined {
  for (const command of NEEDS[name].commands) {
    for (const folder of (process.env.PATH ?? '').split(delimiter)) {
      const path = join(folder, command)
      if (!existsSync(path)) continue
      try {
        accessSync(path, constants.X_OK)
        return path
      } catch {}
    }
  }
  return undefined
}

/**
 * The `skip` of a node:test option: false when the program is there, otherwise the reason. Throws with CI=true,
 * since there it could have been installed.
 */
export function skipWithout(name: NeedName): string | false {
  if (findProgram(name)) return false
  const reason = `${name} is missing: apt-get install ${NEEDS[name].apt} (${NEEDS[name].why})`
  if (process.env.CI === 'true') throw new Error(reason)
  return reason
}

/** Installs with apt what is missing, when this is Debian and we are root; says what it does and what it cannot. */
export function installMissing(): void {
  const names: NeedName[] = ['chromium', 'openssl', 'redis']
  const missing = names.filter((name) => !findProgram(name))
  if (missing.length === 0) return
  const packages = missing.map((name) => NEEDS[name].apt)
  if (!existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) {
    for (const name of missing)
      console.log(
        `missing: ${name} (${NEEDS[name].why} will be skipped); install the package ${NEEDS[name].apt}`,
      )
    return
  }
  console.log(`installing ${packages.join(', ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'] as ['ignore', 'ignore', 'inherit'], env }
  spawnSync('apt-get', ['update', '-q'], quiet)
  spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...packages], quiet)
  for (const name of missing) if (!findProgram(name)) console.log(`apt could not install ${NEEDS[name].apt}`)
}
