/** Where a worker thread of the relay begins: `new Worker` names this file, with a `ThreadData` as its data. */

import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { portableCodecs } from '../../../core/index.ts'
import type { ThreadData } from './messages.ts'
import { RelayThread } from './relay-thread.ts'

const data: ThreadData = workerData
const port = parentPort
if (port === null) throw new Error('this file is for worker threads')

const makeCodec = await portableCodecs(data.codec.module)
const thread = new RelayThread(data, makeCodec, {
  post: (report) => port.postMessage(report),
  receive: () => receiveMessageOnPort(port)?.message,
})
thread.run()
