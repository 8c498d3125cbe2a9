/** The context runs a plugin's life in the host's order, and keeps what was logged. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EdgeError } from '../../../../core/errors.ts'
import { pluginContext } from '../../../../core/testing/plugin-context.ts'

test('ready in order, drain, close in reverse, once', async () => {
  const { context, ready, drain, close } = pluginContext()
  const log: string[] = []
  context.onClose(() => void log.push('close 1'))
  context.onClose(() => void log.push(`close 2, aborted: ${context.signal.aborted}`))
  context.onReady(() => void log.push('ready 1'))
  context.onReady(async () => void log.push('ready 2'))
  context.onDrain((deadline) => void log.push(`drain ${deadline.aborted}`))
  await ready()
  await drain()
  await close()
  await close()
  assert.deepEqual(log, ['ready 1', 'ready 2', 'drain false', 'close 2, aborted: true', 'close 1'])
})

test('logs, HTTP scopes and parts', async () => {
  const { context, logs, close } = pluginContext({ id: 'mine' })
  context.log.warn({ port: 5 }, 'taken')
  assert.equal(logs[0]?.msg, 'taken')
  assert.equal(logs[0]?.port, 5)
  assert.equal(context.id, 'mine')
  context.http.get('/x', async () => 'hello')
  assert.equal((await context.http.inject('/x')).body, 'hello')
  await close()
})

test('errors of its HTTP scopes have the shape that the host gives them', async () => {
  const { context, close } = pluginContext()
  context.http.get('/full', async () => {
    throw new EdgeError('too_many_calls', 'full')
  })
  const response = await context.http.inject('/full')
  assert.equal(response.statusCode, 503)
  assert.equal(response.json().error.code, 'too_many_calls')
  await close()
})
