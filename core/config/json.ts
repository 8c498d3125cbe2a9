/**
 * Reads JSON (RFC 8259) into a tree that knows where everything stands, so that every later fault has a line and a
 * column. Accepts exactly what JSON.parse accepts. Pure.
 */

/** A value and the offset at which it starts. */
export type Node =
  | { readonly kind: 'scalar'; readonly at: number; readonly value: string | number | boolean | null }
  | { readonly kind: 'array'; readonly at: number; readonly items: readonly Node[] }
  | { readonly kind: 'object'; readonly at: number; readonly members: readonly Member[] }

/** One `"key": value` of an object; a key may come twice. */
export interface Member {
  readonly key: string
  readonly keyAt: number
  readonly node: Node
}

/** Text that is no JSON. `at` is the offset of the first character that cannot stand there. */
export class JsonFault extends Error {
  readonly at: number
  readonly hint: string | undefined

  constructor(at: number, message: string, hint?: string) {
    super(message)
    this.at = at
    this.hint = hint
  }
}

/** Deeper nesting is refused, so that no file exhausts the stack. */
const MAX_DEPTH = 200
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const WORD = /[A-Za-z_]\w*/y

/** Parses a whole text; throws JsonFault. */
export function readJson(text: string): Node {
  const reader = new Reader(text)
  const node = reader.value(0)
  reader.end()
  return node
}

/** The plain value of a tree; of a key that comes twice the last one counts, as in JSON.parse. */
export function toValue(node: Node): unknown {
  if (node.kind === 'scalar') return node.value
  if (node.kind === 'array') return node.items.map(toValue)
  return Object.fromEntries(node.members.map(({ key, node }) => [key, toValue(node)]))
}

class Reader {
  #at = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
    if (text.charCodeAt(0) === 0xfeff) this.#at = 1
  }

  value(depth: number): Node {
    this.#space()
    const at = this.#at
    const c = this.#text[at]
    if (depth > MAX_DEPTH) throw new JsonFault(at, `nested more than ${MAX_DEPTH} deep`)
    if (c === '{') return this.#object(at, depth)
    if (c === '[') return this.#array(at, depth)
    if (c === '"') return { kind: 'scalar', at, value: this.#string() }
    return { kind: 'scalar', at, value: this.#literal() }
  }

  end(): void {
    this.#space()
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the file')
  }

  #object(at: number, depth: number): Node {
    const members: Member[] = []
    this.#at++
    this.#space()
    while (this.#text[this.#at] !== '}') {
      if (members.length > 0) this.#comma('}')
      const keyAt = this.#at
      if (this.#text[keyAt] !== '"') throw this.#unexpected(members.length > 0 ? 'a key' : 'a key or "}"')
      const key = this.#string()
      this.#space()
      if (this.#text[this.#at] !== ':') throw this.#unexpected('":" after the key')
      this.#at++
      members.push({ key, keyAt, node: this.value(depth + 1) })
      this.#space()
    }
    this.#at++
    return { kind: 'object', at, members }
  }

  #array(at: number, depth: number): Node {
    const items: Node[] = []
    this.#at++
    this.#space()
    while (this.#text[this.#at] !== ']') {
      if (items.length > 0) this.#comma(']')
      items.push(this.value(depth + 1))
      this.#space()
    }
    this.#at++
    return { kind: 'array', at, items }
  }

  #comma(close: string): void {
    const comma = this.#at
    if (this.#text[comma] !== ',') throw this.#unexpected(`"," or "${close}"`)
    this.#at++
    this.#space()
    if (this.#text[this.#at] === close) {
      throw new JsonFault(comma, `a comma before "${close}" is not JSON`, 'remove the comma')
    }
  }

  #string(): string {
    const start = this.#at
    for (let i = start + 1; i < this.#text.length; i++) {
      const c = this.#text.charCodeAt(i)
      if (c === 0x5c) this.#escape(i++)
      else if (c < 0x20)
        throw new JsonFault(i, 'a string must end on the line it starts on', 'close it with "')
      else if (c === 0x22) {
        this.#at = i + 1
        return String(JSON.parse(this.#text.slice(start, i + 1)))
      }
    }
    throw new JsonFault(start, 'this string never ends', 'close it with "')
  }

  #escape(at: number): void {
    const ok = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
    ok.lastIndex = at
    if (!ok.test(this.#text)) {
      throw new JsonFault(at, 'unknown escape in a string', 'write a backslash as \\\\')
    }
  }

  #literal(): number | boolean | null {
    const number = this.#match(NUMBER)
    if (number !== undefined) return Number(number)
    const at = this.#at
    const word = this.#match(WORD)
    if (word === 'true' || word === 'false') return word === 'true'
    if (word === 'null') return null
    this.#at = at
    throw this.#unexpected('a value')
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #space(): void {
    while (this.#at < this.#text.length && ' \t\n\r'.includes(this.#text[this.#at]!)) this.#at++
  }

  #unexpected(wanted: string): JsonFault {
    const at = this.#at
    if (at >= this.#text.length) return new JsonFault(at, `the file ends where ${wanted} should be`)
    const c = this.#text[at]!
    if (c === '/' || c === '#') return new JsonFault(at, 'comments are not JSON', 'remove the comment')
    const hint = c === "'" ? 'strings stand in double quotes' : undefined
    return new JsonFault(at, `expected ${wanted}, found ${JSON.stringify(c)}`, hint)
  }
}
