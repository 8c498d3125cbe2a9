/** Collects what is wrong with one file, and the secrets that the report must not show. */

import type { Node } from './json.ts'
import { locate, type Place, placeOf } from './locate.ts'
import { ConfigError, type ConfigProblem } from './problem.ts'
import { redactor } from './redact.ts'

/** The problems of one file in the making; `add` finds their lines. */
export class Findings {
  readonly #problems: (ConfigProblem & Place)[] = []
  readonly #secrets: string[] = []
  readonly #file: string
  readonly #text: string
  readonly #tree: Node

  constructor(file: string, text: string, tree: Node) {
    this.#file = file
    this.#text = text
    this.#tree = tree
  }

  /** Notes a problem at its pointer's place, or at an offset of the text. */
  add(problem: ConfigProblem, at?: number): void {
    const place = at === undefined ? locate(this.#text, this.#tree, problem.pointer) : placeOf(this.#text, at)
    this.#problems.push({ ...problem, ...place })
  }

  /** Notes several. */
  addAll(problems: Iterable<ConfigProblem>): void {
    for (const problem of problems) this.add(problem)
  }

  /** Notes secrets; they are replaced in every message, whenever it was added. */
  hide(secrets: Iterable<string>): void {
    this.#secrets.push(...secrets)
  }

  /** Replaces the secrets noted so far. */
  get redact(): (text: string) => string {
    return redactor(this.#secrets)
  }

  /** Throws ConfigError with everything, in the order of the file, unless nothing is wrong. */
  throwIfAny(): void {
    if (this.#problems.length === 0) return
    const { redact } = this
    const sorted = this.#problems.sort((a, b) => a.line - b.line || a.column - b.column)
    throw new ConfigError(
      this.#file,
      sorted.map(({ message, hint, ...rest }) => ({
        ...rest,
        message: redact(message),
        ...(hint === undefined ? {} : { hint: redact(hint) }),
      })),
    )
  }
}
