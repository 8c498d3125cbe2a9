/**
 * WebSockets that leave the event loop to others. A read brings thousands of short messages, and calls' audio would wait
 * until all are handled; one message a turn would take minutes for a flood that is done in a second. So all sockets of the
 * thread share a little time of each turn: what it does not suffice for stays where it is, and behind it the sender waits.
 */

import type { WebSocket } from 'ws'
import { ReaderShare, TurnBudget } from './turn-budget.ts'

/** What all of them together take of a turn, in milliseconds: little beside the 20 of an audio packet. */
const TURN_MS = 2

/**
 * A message may come in pieces (RFC 6455 §5.4) of 1 KiB on average, or in so few. Each costs its time, however short, and no
 * turn ends between them: without a bound a flood of empty ones would be a message that never ends.
 */
const PIECE_BYTES = 1024
const FEW_PIECES = 64

/**
 * The options of ws for sockets that take messages of at most so many bytes. On its own, `allowSynchronousEvents` means one
 * message a turn. What is longer, or comes in too many pieces, ends the connection with 1009 or 1008.
 */
export function inTurns(maxMessageBytes: number): {
  readonly maxPayload: number
  readonly maxFragments: number
  readonly allowSynchronousEvents: boolean
} {
  const maxFragments = Math.max(FEW_PIECES, Math.ceil(maxMessageBytes / PIECE_BYTES))
  return { maxPayload: maxMessageBytes, maxFragments, allowSynchronousEvents: false }
}

/** Where ws keeps that option, once a socket is open: its receiver reads it anew for each message. */
const RECEIVER = '_receiver'
const FLAG = '_allowSynchronousEvents'

const budget = new TurnBudget(TURN_MS)
let isTurn = false

/**
 * Lets an open socket, made with `inTurns`, hand out as many messages, pings and pongs in a turn as it has time for. Order,
 * pausing and closing stay as they are.
 */
export function takeTurns(socket: WebSocket): void {
  const receiver: unknown = Reflect.get(socket, RECEIVER)
  // A later ws may keep it elsewhere: then it stays at one message a turn, which is slow and harms nobody.
  if (typeof receiver !== 'object' || receiver === null || !(FLAG in receiver)) return
  const share = new ReaderShare()
  const onNext = (): void => {
    if (!isTurn) {
      isTurn = true
      setImmediate(endTurn)
    }
    receiver[FLAG] = budget.take(share, performance.now())
  }
  for (const event of ['message', 'ping', 'pong']) socket.prependListener(event, onNext)
}

function endTurn(): void {
  isTurn = false
  budget.nextTurn()
}
