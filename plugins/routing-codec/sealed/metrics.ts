/** The codec's metrics: read from its counters when they are collected. They show how far a change of keys has come. */

import { type Context, Observed } from '../../../core/index.ts'
import type { SealedCodec } from './codec.ts'

/** What is told of a keys file. */
export interface FileCounters {
  /** Bad contents that were found, each once. */
  faults: number
}

/** Registers the instruments that README.md lists. */
export function observe(meter: Context['meter'], codec: SealedCodec, file: FileCounters): void {
  const observed = new Observed(meter, 'earshot.sealed')
  // A key that was dropped goes on as 0: what is not observed any more keeps its last value.
  const seen = new Set<number>()
  observed.upDownCounter('keys', '{key}', 'Keys in use.', (result) => {
    const inUse = codec.keyIds
    for (const key of inUse) seen.add(key)
    for (const key of seen) {
      result.observe(key === inUse[0] ? 1 : 0, { key, use: 'encode' })
      result.observe(inUse.includes(key) ? 1 : 0, { key, use: 'decode' })
    }
  })
  observed.counter('texts', '{text}', 'Texts written and read, by key.', (result) => {
    const inUse = new Set(codec.keyIds)
    const { encoded, decoded } = codec.counters.read()
    for (let key = 0; key < encoded.length; key++) {
      if (!inUse.has(key) && encoded[key] === 0 && decoded[key] === 0) continue
      result.observe(encoded[key]!, { key, operation: 'encode' })
      result.observe(decoded[key]!, { key, operation: 'decode' })
    }
  })
  observed.counter('refusals', '{text}', 'Texts that led nowhere, by reason.', (result) => {
    for (const [reason, count] of Object.entries(codec.counters.read().refused))
      result.observe(count, { reason })
  })
  observed.counter(
    'keys_file.faults',
    '{fault}',
    'Contents of the keys file that could not be used.',
    (result) => result.observe(file.faults),
  )
}
