/** JSON pointers (RFC 6901) as text and as parts. Pure. */

/** One step further down: `/plugins` and `a/b` make `/plugins/a~1b`. */
export function join(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The unescaped steps of a pointer; none for `''`. */
export function parts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** True for a JSON object: not null, not an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The value a pointer leads to in `root`, or undefined. */
export function valueAt(root: unknown, pointer: string): unknown {
  let value = root
  for (const part of parts(pointer)) {
    if (Array.isArray(value)) value = value[Number(part)]
    else if (isObject(value) && Object.hasOwn(value, part)) value = value[part]
    else return undefined
  }
  return value
}

/** Replaces the value a pointer leads to; false when nothing is there to replace. */
export function replaceAt(root: unknown, pointer: string, value: unknown): boolean {
  const steps = parts(pointer)
  const last = steps.pop()
  if (last === undefined) return false
  const parent = valueAt(root, pointer.slice(0, pointer.lastIndexOf('/')))
  if (Array.isArray(parent)) parent[Number(last)] = value
  else if (isObject(parent)) parent[last] = value
  else return false
  return true
}
