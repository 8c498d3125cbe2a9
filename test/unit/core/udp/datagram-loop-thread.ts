/** A thread for datagram-loop.test.ts: sends what comes to any socket on to one address by socket 1. */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { DatagramLoop } from '../../../../core/udp/datagram-loop.ts'
import { parseAddress } from '../../../../core/wire/address.ts'

const { options, to } = workerData
const target = parseAddress(to)!
let ticks = 0
const loop: DatagramLoop = new DatagramLoop(options, {
  onDatagram(_socket, now, bytes, start, end) {
    if (bytes[start] === 1) throw new Error('cannot be dealt with')
    // What only a thread's end ends.
    while (bytes[start] === 2);
    bytes[start - 1] = Math.abs(now - loop.now()) < 1_000 ? markOf(bytes[start - 2]!) : 0
    bytes[start - 2] = loop.batch
    loop.forward(1, start - 1, end, target)
  },
  onWake() {
    const message = receiveMessageOnPort(parentPort!)
    if (message) parentPort!.postMessage({ heard: message.message, ticks })
  },
  onTick: () => void ticks++,
})
/** 7 for what came just now; of what a predecessor left 6 for what that has dealt with, 5 for the rest. */
function markOf(batch: number): number {
  if (!loop.isResuming) return 7
  return batch === (loop.batch & 0xff) ? 6 : 5
}

parentPort!.postMessage('runs')
loop.run()
