/** What is wrong with a config, and the error that carries all of it at once. */

import { EdgeError } from '../errors.ts'

/** One fault, by JSON pointer into the whole file; line and column count from 1. */
export interface ConfigProblem {
  readonly pointer: string
  readonly message: string
  /** What to do about it. */
  readonly hint?: string
  readonly line?: number
  readonly column?: number
}

/** Every fault of one config file. Its message is the report to print. */
export class ConfigError extends EdgeError {
  readonly problems: readonly ConfigProblem[]

  constructor(file: string, problems: readonly ConfigProblem[]) {
    super('config_invalid', problems.map((problem) => report(file, problem)).join('\n'))
    this.problems = problems
  }
}

function report(file: string, { pointer, message, hint, line, column }: ConfigProblem): string {
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`
  const head = pointer === '' ? place : `${place} ${pointer}`
  return [head, message, ...(hint === undefined ? [] : [hint])].join('\n    ')
}
