/** Which engine a process gets, and that it is told when it is not the one it asked for. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { batchedEngine } from '../../../../core/udp/batched-engine.ts'
import { chooseEngine } from '../../../../core/udp/engines.ts'
import { printedWithoutKoffi } from '../without-koffi.ts'

const skip = batchedEngine() === undefined && 'needs 64-bit Linux and koffi'

test('what was asked for, where it works', { skip }, () => {
  const warnings: string[] = []
  const warn = (reason: string): void => void warnings.push(reason)
  assert.equal(chooseEngine('auto', warn).name, 'batched')
  assert.equal(chooseEngine('batched', warn).name, 'batched')
  assert.equal(chooseEngine('dgram', warn).name, 'dgram')
  assert.deepEqual(warnings, [])
})

test('without koffi it is node:dgram, with one warning', { skip: process.platform !== 'linux' }, () => {
  const script = `
    const { chooseEngine } = await import('./core/udp/engines.ts')
    const warnings = []
    const name = chooseEngine('auto', (reason) => warnings.push(reason)).name
    console.log(JSON.stringify([name, warnings.length, /koffi/.test(warnings[0])]))
  `
  assert.equal(printedWithoutKoffi(script), '["dgram",1,true]')
})
