/**
 * The conformance kit of recovery stores. A store may write behind its caller, so what is written is awaited; what it
 * writes must keep its order.
 */

import assert from 'node:assert/strict'
import type { Recovered, RecoveryStore } from '../contracts/recovery-store.ts'
import { type Address, parseAddress } from '../wire/address.ts'
import { type Check, eventually, registerChecks } from './check.ts'

/** A store under test. */
export interface RecoveryStoreSubject {
  readonly store: RecoveryStore
  /** Lets this many milliseconds pass for the store. Without it, expiry is not checked. */
  advance?(ms: number): void | Promise<void>
  /** How many flows it holds at most. Without it, the bound is not checked. */
  readonly capacity?: number
  /** Frees what the store holds. */
  close?(): void | Promise<void>
}

type Make = () => RecoveryStoreSubject | Promise<RecoveryStoreSubject>

const TTL = 30_000

/** Registers the kit's tests for a store; `make` gives an empty one each time. */
export function checkRecoveryStore(name: string, make: Make): void {
  registerChecks(`${name} keeps the recovery store contract`, recoveryStoreChecks(make))
}

/** The kit's checks, to run by hand. Each takes a store of its own. */
export function recoveryStoreChecks(make: Make): Check[] {
  const checks: [name: string, run: (subject: RecoveryStoreSubject) => ReturnType<Check[1]>][] = [
    ['recalls what it was told: IPv4, IPv6, every part', recalls],
    ['knows nothing of others', keepsApart],
    ['replaces what it knew', replaces],
    ['forgets a flow that still points there, and no other', forgets],
    ['returns at once', returnsAtOnce],
    ['copies what it is given, and what it gives', copies],
    ['survives an aborted recall', survivesAbort],
    ['keeps a flow for 30 s after it was last noted', expires],
    ['holds no more than it may, and lets the oldest go', isBounded],
  ]
  return checks.map(([name, run]) => [
    name,
    async () => {
      const subject = await make()
      try {
        return (await run(subject)) ?? undefined
      } finally {
        await subject.close?.()
      }
    },
  ])
}

const at = (text: string): Address => parseAddress(text)!
const ADVERTISED = at('198.51.100.1:3478')
const CLIENT = at('203.0.113.7:50000')

function value(transceiver = '10.0.0.5:4000', cluster = 1, fill = 1): Recovered {
  return { cluster, transceiver: at(transceiver), session: new Uint8Array(8).map((_, i) => fill * 16 + i) }
}

function recall(
  store: RecoveryStore,
  client = CLIENT,
  advertised = ADVERTISED,
): Promise<Recovered | undefined> {
  return store.recall(advertised, client, AbortSignal.timeout(5000))
}

function equal(got: Recovered | undefined, wanted: Recovered): boolean {
  return (
    got !== undefined &&
    got.cluster === wanted.cluster &&
    got.transceiver.equals(wanted.transceiver) &&
    Buffer.compare(got.session, wanted.session) === 0
  )
}

/** Waits until a recall finds `wanted`. */
function known(
  store: RecoveryStore,
  wanted: Recovered,
  client = CLIENT,
  advertised = ADVERTISED,
): Promise<void> {
  const what = `${client} at ${advertised} was known to be at ${wanted.transceiver} in cluster ${wanted.cluster}`
  return eventually(what, async () => equal(await recall(store, client, advertised), wanted))
}

/** Waits until a recall finds nothing. */
function unknown(store: RecoveryStore, client = CLIENT): Promise<void> {
  return eventually(`${client} was forgotten`, async () => (await recall(store, client)) === undefined)
}

async function recalls({ store }: RecoveryStoreSubject): Promise<void> {
  const flows: [client: string, Recovered][] = [
    ['203.0.113.7:50000', value('10.0.0.5:4000', 0, 1)],
    ['203.0.113.7:50001', value('10.0.0.6:65535', 65535, 2)],
    ['[2001:db8::7]:50000', value('[fd00::5]:4000', 258, 3)],
  ]
  for (const [client, wanted] of flows) store.remember(ADVERTISED, at(client), wanted)
  for (const [client, wanted] of flows) await known(store, wanted, at(client))
}

async function keepsApart({ store }: RecoveryStoreSubject): Promise<void> {
  store.remember(ADVERTISED, CLIENT, value())
  await known(store, value())
  assert.equal(
    await recall(store, at('203.0.113.7:50001')),
    undefined,
    'another port was taken for the client',
  )
  assert.equal(await recall(store, at('203.0.113.8:50000')), undefined, 'another ip was taken for the client')
  const elsewhere = await recall(store, CLIENT, at('198.51.100.2:3478'))
  assert.equal(elsewhere, undefined, 'the client was known at another advertised address')
  assert.equal(await recall(store, ADVERTISED, CLIENT), undefined, 'the two addresses were confused')
}

async function replaces({ store }: RecoveryStoreSubject): Promise<void> {
  store.remember(ADVERTISED, CLIENT, value('10.0.0.5:4000', 1, 1))
  store.remember(ADVERTISED, CLIENT, value('10.0.0.6:4001', 2, 2))
  await known(store, value('10.0.0.6:4001', 2, 2))
}

async function forgets({ store }: RecoveryStoreSubject): Promise<void> {
  const other = at('203.0.113.9:9')
  store.remember(ADVERTISED, CLIENT, value())
  store.remember(ADVERTISED, other, value())
  await known(store, value(), other)
  store.forget(ADVERTISED, CLIENT, at('10.0.0.6:4000'))
  store.forget(ADVERTISED, CLIENT, at('10.0.0.5:4001'))
  // Once this one can be seen, the two before it have had their say.
  store.forget(ADVERTISED, other, at('10.0.0.5:4000'))
  await unknown(store, other)
  assert.ok(equal(await recall(store), value()), 'it forgot a flow that had moved to another transceiver')
  store.forget(ADVERTISED, CLIENT, at('10.0.0.5:4000'))
  await unknown(store)
  store.forget(ADVERTISED, CLIENT, at('10.0.0.5:4000'))
}

async function returnsAtOnce({ store }: RecoveryStoreSubject): Promise<void> {
  const remembered: unknown = store.remember(ADVERTISED, CLIENT, value())
  const forgotten: unknown = store.forget(ADVERTISED, CLIENT, value().transceiver)
  assert.equal(remembered, undefined, 'remember gives something to wait for')
  assert.equal(forgotten, undefined, 'forget gives something to wait for')
  assert.ok(recall(store) instanceof Promise, 'recall gives no promise')
}

async function copies({ store }: RecoveryStoreSubject): Promise<void> {
  const [advertised, client, told] = [ADVERTISED.clone(), CLIENT.clone(), value()]
  store.remember(advertised, client, told)
  // As the packet path does: these are reused for the next packet before the write is out.
  for (const address of [advertised, client, told.transceiver]) address.copy(at('192.0.2.99:1'))
  told.session.fill(0xff)
  await known(store, value())
  const got = await recall(store)
  got?.transceiver.copy(at('192.0.2.99:1'))
  got?.session.fill(0xff)
  assert.ok(equal(await recall(store), value()), 'what recall gave was the store’s own')

  const transceiver = value().transceiver.clone()
  client.copy(CLIENT)
  advertised.copy(ADVERTISED)
  store.forget(advertised, client, transceiver)
  for (const address of [advertised, client, transceiver]) address.copy(at('192.0.2.99:1'))
  await unknown(store)
}

async function survivesAbort({ store }: RecoveryStoreSubject): Promise<void> {
  store.remember(ADVERTISED, CLIENT, value())
  const early = store.recall(ADVERTISED, CLIENT, AbortSignal.abort())
  const controller = new AbortController()
  const late = store.recall(ADVERTISED, CLIENT, controller.signal)
  controller.abort()
  const settled = Promise.allSettled([early, late]).then(() => true)
  const given = new Promise<boolean>((resolve) => setTimeout(resolve, 3000, false).unref())
  assert.ok(await Promise.race([settled, given]), 'an aborted recall never ended')
  await known(store, value())
}

async function expires({ store, advance }: RecoveryStoreSubject): Promise<string | undefined> {
  if (!advance) return 'the subject has no "advance"'
  store.remember(ADVERTISED, CLIENT, value())
  await known(store, value())
  await advance(TTL - 1000)
  assert.ok(equal(await recall(store), value()), 'it was gone before its 30 s were over')
  const after = at('203.0.113.9:9')
  store.remember(ADVERTISED, CLIENT, value())
  store.remember(ADVERTISED, after, value())
  await known(store, value(), after)
  await advance(TTL - 1000)
  assert.ok(equal(await recall(store), value()), 'noting it again did not refresh it')
  await advance(2000)
  assert.equal(await recall(store), undefined, 'it was kept for more than 30 s, or reading refreshed it')
  return undefined
}

async function isBounded({ store, capacity }: RecoveryStoreSubject): Promise<string | undefined> {
  if (capacity === undefined) return 'the subject has no "capacity"'
  const client = (i: number): Address => CLIENT.clone().set(0, 0, 0xffff, 0x0a000000 + i, 1)
  store.remember(ADVERTISED, client(0), value())
  for (let i = 1; i < capacity; i++) store.remember(ADVERTISED, client(i), value())
  await known(store, value(), client(capacity - 1))
  // The first becomes the youngest, so that the second is the oldest.
  store.remember(ADVERTISED, client(0), value())
  store.remember(ADVERTISED, client(capacity), value())
  await known(store, value(), client(capacity))
  await unknown(store, client(1))
  assert.ok(equal(await recall(store, client(0)), value()), 'it let a refreshed flow go before an older one')
  return undefined
}
