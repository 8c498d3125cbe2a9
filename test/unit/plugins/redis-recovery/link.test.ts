import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'
import { createClient } from '../../../../plugins/redis-recovery/client.ts'
import { Link } from '../../../../plugins/redis-recovery/link.ts'
import { freePort } from '../../../peers/free-port.ts'
import { options } from './rig.ts'

test('every loss of a connection is told of, also of one node of a cluster that is there still', async (t) => {
  const { context, close } = pluginContext()
  const hosts = [`127.0.0.1:${await freePort()}`]
  const client = createClient(options({ cluster: { hosts } }), undefined)
  let lost = 0
  const settings = { log: context.log, where: hosts[0]!, silenceMs: 1000, onReady() {} }
  const link = new Link(client, { ...settings, onLost: () => void lost++ })
  t.after(() => {
    link.close()
    return close()
  })
  for (const event of ['close', 'end', 'node error', '-node']) {
    const before = lost
    client.emit(event, new Error('lost'))
    assert.equal(lost, before + 1, event)
  }
})
