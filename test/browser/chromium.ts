/** Chromium for tests: found on this machine, started headless, with a WAV file as its microphone. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { findProgram, skipWithout } from '../needs.ts'

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
]

/** How to start it. */
export interface BrowserOptions {
  /** What its microphone hears, again and again. Without one it hears Chromium's own beeps. */
  readonly microphone?: Buffer
  /** True: asked for the microphone, the person says no. */
  readonly refuse?: boolean
  /** True: the machine has no microphone at all. */
  readonly deaf?: boolean
}

/** The `skip` of a test that needs Chromium: false, or the reason. Throws with CI=true. */
export function withoutChromium(): string | false {
  return process.env.CHROMIUM ? false : skipWithout('chromium')
}

/** A browser that is closed, and whose files are gone, at the end of the scope: `await using`. */
export interface TestBrowser extends AsyncDisposable {
  readonly browser: Browser
}

/** Starts Chromium: CHROMIUM names it, or it is on the PATH. */
export async function startChromium(options: BrowserOptions = {}): Promise<TestBrowser> {
  const executablePath = process.env.CHROMIUM ?? findProgram('chromium')
  if (executablePath === undefined)
    throw new Error('Chromium is missing; withoutChromium() says how to get it')
  const folder = await mkdtemp(join(tmpdir(), 'earshot-browser-'))
  try {
    const args = [...QUIET, ...(await microphoneFlags(options, folder))]
    const browser = await chromium.launch({ executablePath, args, ignoreDefaultArgs: ['--mute-audio'] })
    return {
      browser,
      async [Symbol.asyncDispose]() {
        await browser.close()
        await rm(folder, { recursive: true, force: true })
      },
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true })
    throw error
  }
}

async function microphoneFlags(options: BrowserOptions, folder: string): Promise<string[]> {
  if (options.deaf) return ['--use-fake-ui-for-media-stream']
  const flags = ['--use-fake-device-for-media-stream']
  if (!options.refuse) flags.push('--use-fake-ui-for-media-stream')
  if (options.microphone === undefined) return flags
  const file = join(folder, 'microphone.wav')
  await writeFile(file, options.microphone)
  return [...flags, `--use-file-for-fake-audio-capture=${file}`]
}
