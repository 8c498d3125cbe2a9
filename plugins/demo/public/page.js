/**
 * The page: one button, and what it shows while a call goes on. `window.earshotDemo` shows the same to tests:
 * `state` ('idle' | 'starting' | 'live'), `callId`, `stages` (name → ms since the click), `stats` (the newest
 * figures), `events` ([{way, data, at}]), `turns`, `floor` and `latency` (see turns.js), `problem` ({kind, title, advice} or undefined), `endedAt` (performance.now()
 * when the last call ended), `remoteStream`, and `peerConnection`. The page's query: `?raw` turns voice processing off,
 * `?model=` names the model.
 */

import { Call } from './call.js'
import { Conversation } from './conversation.js'
import { EventLog, lastReceived, toEvents } from './events.js'
import { SILENCE_DB } from './hearing.js'
import { Meter } from './meters.js'
import { listMicrophones, microphoneAllowedHere, openMicrophone, release } from './microphone.js'
import { insecure, ofEnding, ofError } from './problems.js'
import { Stages } from './stages.js'
import { StatsPanel, StatsReader } from './stats.js'
import { latencyOf } from './turns.js'
import { clock, FLOORS, STATES } from './words.js'

const $ = (id) => document.getElementById(id)
const query = new URLSearchParams(location.search)
const demo = {
  state: 'idle',
  stages: {},
  stats: undefined,
  events: [],
  turns: [],
  floor: 'nobody',
  latency: undefined,
  problem: undefined,
  remoteStream: undefined,
}
window.earshotDemo = demo

const stages = new Stages($('stages'), $('stages-total'))
const panel = new StatsPanel($('stats'), $('stats-path'))
const log = new EventLog($('events'), $('events-count'))
const input = new Meter($('input-level'), $('input-decibels'), $('input-meter'))
const output = new Meter($('output-level'), $('output-decibels'), $('output-meter'))
const conversation = new Conversation({
  lanes: $('lanes'),
  turns: $('turns'),
  count: $('turns-count'),
  said: $('said'),
  latency: $('latency'),
  latencyCount: $('latency-count'),
  clock: () => stages.elapsed,
  onChange: follow,
})
const speaker = new Audio()
speaker.autoplay = true

let context
let call
let stream
let key = ''
let tickers = []

function show(state, status) {
  demo.state = state
  document.body.dataset.state = state
  const [headline, label, lede] = STATES[state]
  $('headline').textContent = headline
  $('call-label').textContent = label
  $('lede').textContent = lede
  $('timer').hidden = state !== 'live'
  for (const element of $('composer').querySelectorAll('input, button')) element.disabled = state !== 'live'
  if (status) $('status').textContent = status
}

/** Says who speaks, and keeps for tests what the conversation is. */
function follow(now, floor) {
  Object.assign(demo, { turns: now.turns, floor, latency: latencyOf(now) })
  $('input').toggleAttribute('data-speaks', floor === 'you' || floor === 'both')
  $('output').toggleAttribute('data-speaks', floor === 'edge' || floor === 'both')
  if (demo.state !== 'live') return
  const [headline, lede] = FLOORS[floor]
  $('headline').textContent = headline
  $('lede').textContent = lede
}

function explain(problem) {
  demo.problem = problem
  $('problem').hidden = problem === undefined
  $('problem').dataset.kind = problem?.kind ?? ''
  $('problem-title').textContent = problem?.title ?? ''
  $('problem-advice').textContent = problem?.advice ?? ''
  $('problem-advice').hidden = !problem?.advice
  $('key-form').hidden = problem?.kind !== 'key'
  if (problem?.kind === 'key') $('key').focus()
}

function reach(stage, how) {
  stages.reach(stage, how)
  demo.stages = { ...stages.reached }
  if (stage === 'microphone') $('status').textContent = 'Calling the edge…'
  if (stage === 'answer') $('status').textContent = 'Finding a path for sound…'
  if (stage === 'dtls') goLive()
}

function record(way, data) {
  demo.events.push({ way, data, at: stages.elapsed })
  log.add(way, data, stages.elapsed)
  conversation.follow(way, data)
}

async function begin() {
  explain(undefined)
  log.clear()
  panel.clear()
  Object.assign(demo, { events: [], stats: undefined, callId: undefined, remoteStream: undefined })
  stages.start()
  conversation.start()
  demo.stages = {}
  show('starting', 'Asking for the microphone…')
  context ??= new AudioContext({ latencyHint: 'interactive' })
  context.resume()
  const mine = listenTo(new Call())
  call = mine
  try {
    const opened = await openMicrophone({ deviceId: $('microphone').value, raw: query.has('raw') })
    if (mine.ended) return release(opened)
    stream = opened
    reach('microphone')
    listenToMicrophone()
    listMicrophones($('microphone'))
    demo.peerConnection = mine.peerConnection
    await mine.start(stream, { key, model: query.get('model') })
  } catch (error) {
    if (call !== mine || error.name === 'AbortError') return
    if (!mine.ended) mine.abandon()
    finish('Not connected', ofError(error))
  }
}

function listenTo(made) {
  made.addEventListener('stage', ({ detail }) => {
    demo.callId = made.id
    reach(detail)
  })
  made.addEventListener('audio', ({ detail }) => play(detail))
  made.addEventListener('message', ({ detail }) => record('received', detail))
  made.addEventListener('interrupted', ({ detail }) => {
    $('status').textContent = detail ? 'The connection is interrupted; waiting…' : 'Connected'
  })
  made.addEventListener('ended', ({ detail }) => {
    const context = { candidates: made.candidates, lastEvent: lastReceived(demo.events) }
    finish(detail === 'no-media' ? 'Not connected' : 'Call ended', ofEnding(detail, context))
  })
  return made
}

function listenToMicrophone() {
  input.connect(context, stream)
  conversation.listenTo(context, 'you', stream)
}

function goLive() {
  if (demo.state === 'live') return
  show('live', 'Connected')
  const startedAt = performance.now()
  const reader = new StatsReader()
  const tick = () => {
    $('timer').textContent = clock(performance.now() - startedAt)
  }
  const measure = async () => {
    const figures = await reader.read(call.peerConnection).catch(() => undefined)
    if (!figures || demo.state !== 'live') return
    demo.stats = figures
    panel.show(figures)
  }
  tick()
  tickers.push(setInterval(tick, 250), setInterval(measure, 1000))
}

function play(remote) {
  demo.remoteStream = remote
  speaker.srcObject = remote
  output.connect(context, remote)
  conversation.listenTo(context, 'edge', remote)
  const listen = setInterval(() => {
    if (output.decibels <= SILENCE_DB) return
    clearInterval(listen)
    // Whoever takes turns sounds when the person has spoken; that time is the person's.
    const { told, turns } = conversation.state
    reach('sound', { waited: told && turns.some(({ who }) => who === 'you') })
  }, 10)
  tickers.push(listen)
}

function finish(status, problem) {
  demo.endedAt = performance.now()
  for (const ticker of tickers) clearInterval(ticker)
  tickers = []
  stages.stop()
  conversation.stop()
  input.disconnect()
  output.disconnect()
  speaker.srcObject = null
  if (stream) release(stream)
  stream = undefined
  call = undefined
  show('idle', status)
  explain(problem)
}

$('call').addEventListener('click', () => (call ? call.hangUp() : begin()))

$('key-form').addEventListener('submit', (event) => {
  event.preventDefault()
  key = $('key').value.trim()
  if (!call) begin()
})

$('composer').addEventListener('submit', (event) => {
  event.preventDefault()
  const typed = $('message').value.trim()
  if (!typed || !call) return
  for (const text of toEvents(typed)) {
    if (!call.send(text)) return
    record('sent', text)
  }
  $('message').value = ''
})

$('microphone').addEventListener('change', async () => {
  if (!stream || !call) return
  const opened = await openMicrophone({ deviceId: $('microphone').value, raw: query.has('raw') }).catch(
    () => undefined,
  )
  if (!opened || !call) return
  release(stream)
  stream = opened
  listenToMicrophone()
  await call.replaceMicrophone(stream)
})

window.addEventListener('pagehide', () => call?.hangUp())

$('host').textContent = location.host
show('idle', 'Ready')
if (microphoneAllowedHere()) {
  listMicrophones($('microphone'))
  navigator.mediaDevices.addEventListener('devicechange', () => listMicrophones($('microphone')))
} else {
  $('call').disabled = true
  $('status').textContent = ''
  explain(insecure())
}
