/** What the codec's metrics show of a change of keys. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseAddress } from '../../../../../core/index.ts'
import { createTelemetry } from '../../../../../core/telemetry.ts'
import { SealedCodec } from '../../../../../plugins/routing-codec/sealed/codec.ts'
import { observe } from '../../../../../plugins/routing-codec/sealed/metrics.ts'
import { metricIn } from '../../../../peers/metric-text.ts'

const OLD = { id: 1, key: '000102030405060708090a0b0c0d0e0f' }
const NEW = { id: 2, key: 'f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff' }
const ROUTE = { cluster: 1, address: parseAddress('10.0.0.5:3479')!, session: new Uint8Array(8) }

test('which keys are in use, which were used, and what led nowhere', async (t) => {
  const telemetry = createTelemetry({ version: '0', env: {} })
  t.after(() => telemetry.close(100))
  const codec = new SealedCodec([OLD])
  const file = { faults: 0 }
  observe(telemetry.meter('codec'), codec, file)
  const value = async (name: string, labels: Record<string, string>): Promise<number> =>
    metricIn(await telemetry.metricsText(), `earshot_sealed_${name}`, labels)
  const read = (text: string): void => {
    codec.decode(Buffer.from(text), 0, text.length, 'ufrag')
  }

  const old = codec.encode(ROUTE, 'ufrag')
  read(old)
  assert.equal(await value('keys', { key: '1', use: 'encode' }), 1)
  codec.replace([NEW, OLD])
  assert.equal(await value('keys', { key: '1', use: 'encode' }), 0)
  assert.equal(await value('keys', { use: 'decode' }), 2)
  read(old)
  const fresh = codec.encode(ROUTE, 'ufrag')
  read(fresh)
  read(codec.encode(ROUTE, 'call'))
  read(`${old.slice(0, -1)}!`)
  read('short')
  codec.replace([NEW])
  read(old)
  file.faults = 3

  assert.equal(await value('keys', { key: '2', use: 'encode' }), 1)
  assert.equal(await value('keys', { key: '2', use: 'decode' }), 1)
  assert.equal(await value('keys', { key: '1' }), 0)
  assert.equal(await value('texts_total', { key: '1', operation: 'encode' }), 1)
  assert.equal(await value('texts_total', { key: '1', operation: 'decode' }), 2)
  assert.equal(await value('texts_total', { key: '2', operation: 'encode' }), 2)
  assert.equal(await value('texts_total', { key: '2', operation: 'decode' }), 1)
  assert.equal(await value('refusals_total', { reason: 'forged' }), 1)
  assert.equal(await value('refusals_total', { reason: 'malformed' }), 2)
  assert.equal(await value('refusals_total', { reason: 'unknown_key' }), 1)
  assert.equal(await value('keys_file_faults_total', {}), 3)
})
