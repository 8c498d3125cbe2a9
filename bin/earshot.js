#!/usr/bin/env node
/** The `earshot` command: core/main on a Node that can run it. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launch } from './node.js'

const built = fileURLToPath(new URL('../dist/core/main.js', import.meta.url))
const source = fileURLToPath(new URL('../core/main.ts', import.meta.url))
launch([existsSync(source) ? source : built, ...process.argv.slice(2)])
