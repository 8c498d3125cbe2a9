/** The log: JSON lines for machines, short lines on a terminal; without secrets, with trace ids. */

import type { Span } from '@opentelemetry/api'
import { type Logger, pino } from 'pino'
import { isObject } from './config/pointer.ts'

/** What takes the finished lines. */
export interface LogDestination {
  write(text: string): void
}

/** How to log. */
export interface LogOptions {
  readonly level: string
  /** Lines for people; default: when stdout is a terminal. */
  readonly pretty?: boolean | undefined
  /** Runs over every line before it is written. */
  readonly redact?: (text: string) => string
  /** Default: stdout. */
  readonly destination?: LogDestination
}

/**
 * Makes the process's log. A `span` among an entry's fields becomes `trace_id` and `span_id`, so that
 * `log.info({ span }, 'call answered')` can be found from the trace.
 */
export function createLog({ level, pretty, redact, destination = process.stdout }: LogOptions): Logger {
  const forPeople = pretty ?? process.stdout.isTTY ?? false
  const write = (line: string): void => {
    const text = forPeople ? humanLine(line) : line
    destination.write(redact ? redact(text) : text)
  }
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: withTraceIds },
    },
    { write },
  )
}

function withTraceIds(fields: Record<string, unknown>): Record<string, unknown> {
  const { span, ...rest } = fields
  if (!isSpan(span)) return fields
  const { traceId, spanId } = span.spanContext()
  return { ...rest, trace_id: traceId, span_id: spanId }
}

function isSpan(value: unknown): value is Span {
  return typeof value === 'object' && value !== null && 'spanContext' in value
}

/**
 * `12:34:56.789 warn  [relay] message  key=value`, an error on lines of its own: with its stack, unless we raised it
 * on purpose and its message says all. What a peer may have sent cannot steer the terminal.
 */
export function humanLine(line: string): string {
  const entry: unknown = JSON.parse(line)
  if (!isObject(entry)) return line
  const { level, time, msg, plugin, err, ...fields } = entry
  const head = [String(time).slice(11, 23), String(level).padEnd(5)]
  const who = typeof plugin === 'string' ? `[${plugin}] ` : ''
  const rest = Object.entries(fields).map(([key, value]) => `${key}=${shown(value)}`)
  const text = `${[...head, `${who}${String(msg ?? '')}`, ...rest].join('  ')}${isObject(err) ? errorLines(err) : ''}`
  return `${text.replace(CONTROL, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}\n`
}

/** Control characters but for tab and line feed. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it is about
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

function errorLines({ type, message, stack }: Record<string, unknown>): string {
  return type === 'EdgeError' ? `\n    ${String(message)}` : `\n${String(stack ?? message)}`
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /[\s"=]/.test(text) && typeof value === 'string' ? JSON.stringify(value) : text
}
