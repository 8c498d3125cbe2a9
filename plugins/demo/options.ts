/** The demo page's options, as its operator writes them. */

import { type Problem, type Static, Type } from '../../core/index.ts'

/** The schema of the demo page's options. */
export const Options = Type.Object({
  path: Type.String({
    default: '/',
    description: 'Where the page is on the public listener. Starts and ends with a slash.',
  }),
})

/** The demo page's options with their defaults filled in. */
export type DemoOptions = Static<typeof Options>

/** What the schema cannot say: the path must be a plain folder of the URL, or the page's own links would miss. */
export function checkOptions(options: DemoOptions): Problem[] {
  if (/^\/(?:[\w.~-]+\/)*$/.test(options.path)) return []
  return [
    {
      pointer: '/path',
      message: `"${options.path}" is not a path that starts and ends with a slash`,
      hint: 'for example "/" or "/demo/"',
    },
  ]
}
