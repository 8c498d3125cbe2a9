/** Using the demo page as a person does: open it, call, send an event, hang up. */

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { Edge } from './edge-process.ts'
import { until } from './until.ts'

/** What the page hears, for the recorder. */
export const DEMO_SOURCE = {
  stream: 'earshotDemo.remoteStream',
  peerConnection: 'earshotDemo.peerConnection',
}

/** The stages from click to first sound, in their order. */
export const STAGES = ['microphone', 'offer', 'answer', 'ice', 'dtls', 'channel', 'sound'] as const

/** A page that complains fails its test: console errors and uncaught exceptions are kept here. */
export function complaintsOf(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  return complaints
}

/** Clicks Call and waits until sound comes back and the channel is open. */
export async function call(page: Page): Promise<void> {
  await page.click('#call')
  await until(
    page,
    `earshotDemo.problem ? Promise.reject() : earshotDemo.stages.sound && earshotDemo.stages.channel`,
  )
}

/** Sends what a person types, and waits until all events that were sent for it come back the same. */
export async function sendAndHearBack(page: Page, typed: string): Promise<void> {
  const known: number = await page.evaluate('earshotDemo.events.length')
  await page.fill('#message', typed)
  await page.press('#message', 'Enter')
  const later = (way: string) =>
    `earshotDemo.events.slice(${known}).filter((event) => event.way === '${way}').map(({ data }) => JSON.parse(data))`
  await until(page, `${later('sent')}.length > 0 && ${later('received')}.length === ${later('sent')}.length`)
  assert.deepEqual(await page.evaluate(later('received')), await page.evaluate(later('sent')))
}

/** Ends the page's call over HTTP, as somebody else with the same key. Gives the status. */
export async function hangUpOverHttp(edge: Edge, page: Page): Promise<number> {
  const id: string = await page.evaluate('earshotDemo.callId')
  const response = await fetch(new URL(`/v1/realtime/calls/${id}/hangup`, edge.url), { method: 'POST' })
  return response.status
}

/** Does something that ends the call, and gives the milliseconds until the page noticed. */
export async function timeUntilEnded(page: Page, end: () => Promise<unknown>): Promise<number> {
  const before: number = await page.evaluate('performance.now()')
  await end()
  await until(page, `earshotDemo.state === 'idle'`)
  const after: number = await page.evaluate('earshotDemo.endedAt')
  return after - before
}
