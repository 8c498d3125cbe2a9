/** The connection's figures: read from the browser each second, drawn as four numbers with their last minute. */

const KEEP = 60

/** Turns getStats reports into figures; it keeps the last report, since loss is a difference. */
export class StatsReader {
  #received = 0
  #lost = 0

  /** `{ roundTripMs, jitterMs, lossPercent, lost, bufferMs, codec, path }`; what is not known yet is undefined. */
  async read(pc) {
    const report = [...(await pc.getStats()).values()]
    const byId = new Map(report.map((entry) => [entry.id, entry]))
    const inbound = report.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'audio')
    const transport = report.find(({ type }) => type === 'transport')
    const pair =
      byId.get(transport?.selectedCandidatePairId) ??
      report.find((r) => r.type === 'candidate-pair' && r.nominated)
    const remote = byId.get(pair?.remoteCandidateId)
    return {
      roundTripMs: toMs(pair?.currentRoundTripTime),
      jitterMs: toMs(inbound?.jitter),
      ...this.#loss(inbound),
      bufferMs: inbound?.jitterBufferEmittedCount
        ? toMs(inbound.jitterBufferDelay / inbound.jitterBufferEmittedCount)
        : undefined,
      codec: describeCodec(byId.get(inbound?.codecId)),
      path: describePath(remote),
    }
  }

  #loss(inbound) {
    if (!inbound || inbound.packetsReceived === 0) return { lossPercent: undefined, lost: 0 }
    const received = inbound.packetsReceived - this.#received
    const lost = Math.max(0, inbound.packetsLost - this.#lost)
    this.#received = inbound.packetsReceived
    this.#lost = inbound.packetsLost
    const expected = received + lost
    return { lossPercent: expected > 0 ? (100 * lost) / expected : undefined, lost: inbound.packetsLost }
  }
}

function toMs(seconds) {
  return seconds === undefined ? undefined : seconds * 1000
}

function describePath(candidate) {
  const ip = candidate?.address ?? candidate?.ip
  if (!ip) return undefined
  return ip.includes(':') ? `[${ip}]:${candidate.port}` : `${ip}:${candidate.port}`
}

function describeCodec(codec) {
  if (!codec) return undefined
  const name = codec.mimeType.replace(/^audio\//, '').replace(/^opus$/, 'Opus')
  const fec = codec.sdpFmtpLine?.includes('useinbandfec=1') ? ', FEC' : ''
  return { name, rate: `${codec.clockRate / 1000} kHz${fec}` }
}

/** Draws the figures into a description list. */
export class StatsPanel {
  #figures
  #path

  constructor(list, path) {
    this.#path = path
    this.#figures = {
      roundTrip: figure(list, 'Round trip'),
      jitter: figure(list, 'Jitter'),
      loss: figure(list, 'Loss'),
      codec: figure(list, 'Codec', false),
    }
    this.clear()
  }

  clear() {
    this.#path.textContent = ''
    for (const { show } of Object.values(this.#figures)) show(undefined)
  }

  show({ roundTripMs, jitterMs, lossPercent, lost, bufferMs, codec, path }) {
    const { roundTrip, jitter, loss, codec: codecFigure } = this.#figures
    roundTrip.show(roundTripMs === 0 ? 0.5 : roundTripMs, 'ms', 'to the edge')
    jitter.show(jitterMs, 'ms', bufferMs === undefined ? '' : `${Math.round(bufferMs)} ms buffered`)
    loss.show(
      lossPercent,
      '%',
      lost === 0 ? 'none so far' : lost === 1 ? '1 packet in all' : `${lost} packets in all`,
    )
    codecFigure.show(codec?.name, '', codec?.rate)
    this.#path.textContent = path ? `via ${path}` : ''
  }
}

/** A figure in a description list; its `show(value, unit, note)` draws it, undefined as a dash. */
export function figure(list, title, drawn = true) {
  const group = list.appendChild(document.createElement('div'))
  group.appendChild(document.createElement('dt')).textContent = title
  const value = group.appendChild(document.createElement('dd'))
  const note = group.appendChild(document.createElement('dd'))
  note.className = 'note'
  const line = drawn ? sparkline(group) : undefined
  let history = []
  const show = (given, unit = '', says = '') => {
    history = given === undefined ? [] : [...history, given].slice(-KEEP)
    line?.(history)
    note.textContent = given === undefined ? '' : says
    value.textContent = typeof given === 'number' ? digits(given) : (given ?? '–')
    if (given === undefined || !unit) return
    value.appendChild(document.createElement('small')).textContent = unit
  }
  return { show }
}

function digits(value) {
  if (value === 0) return '0'
  if (value < 0.95) return '<1'
  return value < 9.95 && value % 1 !== 0 ? value.toFixed(1) : String(Math.round(value))
}

function sparkline(parent) {
  const ns = 'http://www.w3.org/2000/svg'
  const svg = parent.appendChild(document.createElementNS(ns, 'svg'))
  svg.setAttribute('viewBox', `0 0 ${KEEP - 1} 20`)
  svg.setAttribute('preserveAspectRatio', 'none')
  svg.setAttribute('aria-hidden', 'true')
  const part = (name, attributes) => {
    const element = svg.appendChild(document.createElementNS(ns, name))
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value)
    element.setAttribute('vector-effect', 'non-scaling-stroke')
    return element
  }
  part('line', { x1: 0, y1: 19, x2: KEEP - 1, y2: 19 })
  const line = part('polyline', {})
  return (history) => {
    const top = Math.max(1, ...history)
    const points = history.map((value, i) => `${KEEP - history.length + i},${19 - (18 * value) / top}`)
    line.setAttribute('points', points.join(' '))
  }
}
