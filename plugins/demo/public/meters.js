/** Levels: how loud a stream is, and a drawing of the last few seconds of it. */

const FLOOR_DB = -60
const BAR_MS = 40
const BAR_WIDTH = 3
const BAR_STEP = 5
const TELL_MS = 500

/** The level of one stream, drawn on one canvas. */
export class Meter {
  #canvas
  #output
  #meter
  #analyser
  #source
  #samples = new Float32Array(1024)
  #bars = []
  #barEnds = 0
  #tellAt = 0
  #loudest = FLOOR_DB

  constructor(canvas, output, meter) {
    this.#canvas = canvas
    this.#output = output
    this.#meter = meter
    new ResizeObserver(() => this.#draw()).observe(canvas)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.#draw())
  }

  /** Listens to a stream, and to no other any more. */
  connect(context, stream) {
    this.disconnect()
    this.#analyser = new AnalyserNode(context, { fftSize: 1024, smoothingTimeConstant: 0 })
    this.#source = new MediaStreamAudioSourceNode(context, { mediaStream: stream })
    this.#source.connect(this.#analyser)
    const frame = (now) => {
      if (!this.#analyser) return
      this.#sample(now)
      requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  }

  /** Listens no more; the drawing goes back to silence. */
  disconnect() {
    this.#source?.disconnect()
    this.#source = undefined
    this.#analyser = undefined
    this.#bars = []
    this.#output.textContent = '–'
    this.#meter.value = FLOOR_DB
    this.#draw()
  }

  /** The level now, in decibels of full scale, down to -60. */
  get decibels() {
    if (!this.#analyser) return FLOOR_DB
    this.#analyser.getFloatTimeDomainData(this.#samples)
    let sum = 0
    for (const sample of this.#samples) sum += sample * sample
    return Math.max(FLOOR_DB, 10 * Math.log10(sum / this.#samples.length + 1e-12))
  }

  #sample(now) {
    this.#loudest = Math.max(this.#loudest, this.decibels)
    if (now < this.#barEnds) return
    this.#barEnds = now + BAR_MS
    this.#bars.push(1 - this.#loudest / FLOOR_DB)
    if (this.#bars.length > 400) this.#bars.shift()
    this.#draw()
    if (now >= this.#tellAt) this.#tell(now)
    this.#loudest = FLOOR_DB
  }

  #tell(now) {
    this.#tellAt = now + TELL_MS
    const db = Math.round(this.#loudest)
    const quiet = db <= FLOOR_DB
    this.#output.textContent = quiet ? 'silent' : `${db} dB`.replace('-', '−')
    this.#meter.value = db
    this.#meter.ariaValueText = quiet ? 'silent' : `${db} decibels`
  }

  #draw() {
    const { clientWidth: width, clientHeight: height } = this.#canvas
    const scale = devicePixelRatio
    this.#canvas.width = width * scale
    this.#canvas.height = height * scale
    const paint = this.#canvas.getContext('2d')
    paint.scale(scale, scale)
    paint.fillStyle = getComputedStyle(this.#canvas).color
    const count = Math.floor((width + BAR_STEP - BAR_WIDTH) / BAR_STEP)
    for (let i = 0; i < count; i++) {
      const level = this.#bars.at(i - count) ?? 0
      const known = this.#bars.length >= count - i
      const tall = Math.max(BAR_WIDTH, (known ? level ** 1.6 : 0) * height)
      paint.globalAlpha = tall > BAR_WIDTH ? 1 : 0.3
      paint.beginPath()
      paint.roundRect(i * BAR_STEP, (height - tall) / 2, BAR_WIDTH, tall, BAR_WIDTH / 2)
      paint.fill()
    }
  }
}
