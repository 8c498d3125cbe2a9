/** Metrics that are read when they are collected, so that what counts only counts. */

import type { Meter, Observable, ObservableCallback } from '@opentelemetry/api'

/** The observable instruments of one part, whose names all begin with its prefix. */
export class Observed {
  readonly #meter: Meter
  readonly #prefix: string
  readonly #readings: { readonly instrument: Observable; readonly read: ObservableCallback }[] = []

  /** `prefix` goes in front of names with a dot, such as `earshot.relay`. */
  constructor(meter: Meter, prefix: string) {
    this.#meter = meter
    this.#prefix = prefix
  }

  /** A number that only grows. Without `read` it is for the caller's own batch callback. */
  counter(name: string, unit: string, description: string, read?: ObservableCallback): Observable {
    const counter = this.#meter.createObservableCounter(`${this.#prefix}.${name}`, { unit, description })
    return read ? this.#reads(counter, read) : counter
  }

  /** A number that goes up and down, and is added up over processes. */
  upDownCounter(name: string, unit: string, description: string, read: ObservableCallback): Observable {
    const options = { unit, description }
    return this.#reads(this.#meter.createObservableUpDownCounter(`${this.#prefix}.${name}`, options), read)
  }

  /** A number that goes up and down, and means nothing added up. */
  gauge(name: string, unit: string, description: string, read: ObservableCallback): Observable {
    const options = { unit, description }
    return this.#reads(this.#meter.createObservableGauge(`${this.#prefix}.${name}`, options), read)
  }

  /** From now on nothing is read. */
  close(): void {
    for (const { instrument, read } of this.#readings.splice(0)) instrument.removeCallback(read)
  }

  #reads(instrument: Observable, read: ObservableCallback): Observable {
    instrument.addCallback(read)
    this.#readings.push({ instrument, read })
    return instrument
  }
}
