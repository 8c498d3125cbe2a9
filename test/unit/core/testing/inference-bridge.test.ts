import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EdgeError } from '../../../../core/errors.ts'
import { withPatience } from '../../../../core/testing/check.ts'
import {
  type BridgeClaims,
  checkInferenceBridge,
  inferenceBridgeChecks,
} from '../../../../core/testing/inference-bridge.ts'
import { ECHO_FAULTS, echo, made, type Open, TALKER_TURNS, Talker, TURN_FAULTS } from './broken-bridges.ts'

/** What a broken bridge may take, in milliseconds. */
const SHORT = 2000

const broken = made(() => async () => {
  throw new EdgeError('bridge_failed', 'nobody there')
})
const ECHO: BridgeClaims = { echoes: true, aheadMs: 20, broken }
const TURNS: BridgeClaims = { turns: TALKER_TURNS, aheadMs: 20 }

checkInferenceBridge(
  'an echo',
  made(() => echo),
  ECHO,
)
checkInferenceBridge(
  'a bridge that takes turns',
  made(() => (call) => new Talker(call).run()),
  TURNS,
)

/** The names of the checks that fail. */
async function caught(makeOpen: () => Open, claims: BridgeClaims): Promise<string[]> {
  const checks = inferenceBridgeChecks(made(makeOpen), claims)
  const results = await withPatience(SHORT, () => Promise.allSettled(checks.map(([, run]) => run())))
  return checks.flatMap(([name], i) => (results[i]!.status === 'rejected' ? [name] : []))
}

describe('the inference bridge kit fails, by one check and no other, on a bridge that does not', {
  concurrency: true,
}, () => {
  for (const [name, open] of Object.entries(ECHO_FAULTS)) {
    test(name, async () => assert.deepEqual(await caught(open, ECHO), [name]))
  }
  for (const [name, fault] of Object.entries(TURN_FAULTS)) {
    const open = (): Open => (call) => new Talker(call, fault).run()
    test(name, async () => assert.deepEqual(await caught(open, TURNS), [name]))
  }
})

describe('the inference bridge kit', () => {
  test('fails on spans outside of their call’s trace', async () => {
    const stray = (): Open => async (call, traces) => {
      traces.tracer.startSpan('stray').end()
      await echo(call, traces)
    }
    assert.deepEqual(await caught(stray, ECHO), ['ends every span it began, in its call’s trace'])
  })

  test('fails on a bridge that hangs without a backend, throws, or rejects with any error', async () => {
    const throws = (): Promise<void> => {
      throw new EdgeError('bridge_failed', 'thrown')
    }
    const anyError = async (): Promise<void> => {
      throw new Error('any')
    }
    for (const open of [throws, anyError, async () => {}]) {
      const checks = inferenceBridgeChecks(
        made(() => echo),
        { broken: made(() => open) },
      )
      await assert.rejects(withPatience(SHORT, checks.at(-1)![1]))
    }
  })

  test('has a fault for every check', () => {
    const names = new Set(
      [ECHO, TURNS].flatMap((claims) =>
        inferenceBridgeChecks(
          made(() => echo),
          claims,
        ).map(([name]) => name),
      ),
    )
    names.delete('rejects when there is no backend')
    assert.deepEqual([...names].sort(), [...Object.keys(ECHO_FAULTS), ...Object.keys(TURN_FAULTS)].sort())
  })
})
