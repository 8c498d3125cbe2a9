/** What a schema cannot say of addresses in options: each is such, or a problem says which is not and shows one. */

import type { Problem } from './plugin.ts'
import { parseCidr } from './wire/cidr.ts'
import { parsePortRange } from './wire/ports.ts'

/** An option's text is no ip:port. */
export function notAnAddress(pointer: string, text: string, example: string): Problem {
  return { pointer, message: `"${text}" is not an ip:port`, hint: `for example ${example}` }
}

/** Each text of the list at `pointer` must be a CIDR. */
export function checkCidrs(
  pointer: string,
  texts: readonly string[],
  example = '10.0.0.0/8 or fd00::/8',
): Problem[] {
  return texts.flatMap((text, i): Problem[] => {
    if (parseCidr(text)) return []
    return [
      { pointer: `${pointer}/${i}`, message: `"${text}" is not a CIDR`, hint: `for example ${example}` },
    ]
  })
}

/** `allow` names the only processes that are talked to: where they are, and the ports that they listen on. */
export function checkAllow(allow: { readonly cidrs: readonly string[]; readonly ports: string }): Problem[] {
  const problems = checkCidrs('/allow/cidrs', allow.cidrs)
  if (!parsePortRange(allow.ports)) {
    problems.push({
      pointer: '/allow/ports',
      message: `"${allow.ports}" is neither a port nor a range of ports`,
      hint: 'for example 3479, or 3479-3490',
    })
  }
  return problems
}
