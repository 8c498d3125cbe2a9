/** A folder outside the clone with a few plugins in it, for tests of the loader. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const plugin = (name: string, rest: string, head = ''): string => `
import { definePlugin, service, Type } from 'earshot'
${head}
export default definePlugin({ name: '${name}', api: 1, ${rest} })
`

const NO_OPTIONS = 'options: Type.Object({})'

const FILES: Readonly<Record<string, string>> = {
  'plugins/phone/index.ts': plugin(
    'phone',
    `options: Type.Object({
      listen: Type.String({ description: 'where calls come in' }),
      lines: Type.Integer({ minimum: 1, default: 2 }),
      secret: Type.Optional(Type.String({ minLength: 8, writeOnly: true })),
      mode: Type.Union([Type.Literal('strict'), Type.Literal('open')], { default: 'strict' }),
      loud: Type.Boolean({ default: false }),
      ring: Type.Optional(Type.Union([
        Type.Object({ type: Type.Literal('bell'), count: Type.Integer() }),
        Type.Object({ type: Type.Literal('tone'), hertz: Type.Number({ default: 440 }) }),
      ])),
      volume: Type.Optional(Type.Union([Type.Literal('auto'), Type.Integer({ maximum: 11 })], {
        description: 'how loud it rings',
      })),
    }),
    check: ({ listen, secret }) => [
      ...(listen === 'nowhere' ? [{ pointer: '/listen', message: 'nobody calls nowhere', hint: 'name a place' }] : []),
      ...(secret === 'too-well-known' ? [{ pointer: '/secret', message: 'everybody knows ' + secret }] : []),
    ],
    setup: () => ({})`,
  ),
  'plugins/named-schema/index.ts': plugin(
    'named-schema',
    `options: Type.Object({ a: Type.Integer({ default: 1 }) }, { $id: 'mine' }), setup: () => ({})`,
  ),
  'plugins/giver/index.ts': plugin(
    'giver',
    `${NO_OPTIONS}, provides: { thing: service('thing') }, setup: () => ({ thing: 1 })`,
  ),
  'plugins/taker/index.ts': plugin(
    'taker',
    `${NO_OPTIONS}, requires: { need: service('thing') }, setup: () => ({})`,
  ),
  'plugins/wisher/index.ts': plugin(
    'wisher',
    `${NO_OPTIONS}, optional: { wish: service('thing') }, setup: () => ({})`,
  ),
  'plugins/egg/index.ts': plugin(
    'egg',
    `${NO_OPTIONS}, requires: { hen: service('hen') }, provides: { egg: service('egg') }, setup: () => ({ egg: 1 })`,
  ),
  'plugins/hen/index.ts': plugin(
    'hen',
    `${NO_OPTIONS}, requires: { egg: service('egg') }, provides: { hen: service('hen') }, setup: () => ({ hen: 1 })`,
  ),
  'plugins/coded/index.ts': plugin(
    'coded',
    `${NO_OPTIONS}, requires: { codec: service('routing-codec') }, setup: () => ({})`,
  ),
  'plugins/throws/index.ts': "throw new Error('boom at import')\n",
  'plugins/broken/index.ts': 'export default definePlugin({\n',
  'plugins/indirect/index.ts': "import './part.ts'\n",
  'plugins/indirect/part.ts': 'const a = 1\nconst b = a a\n',
  'plugins/asks/index.ts': plugin(
    'asks',
    `${NO_OPTIONS}, setup: () => nothing`,
    "import { nothing } from 'earshot'",
  ),
  'plugins/empty/index.ts': 'export const plugin = {}\n',
  'plugins/old/index.ts': "export default { name: 'old', api: 0, options: { type: 'object' }, setup() {} }\n",
  'plugins/odd/index.ts': "export default { name: 'odd', api: 1, options: {}, setup() {} }\n",
  'secret.txt': 'a-secret-out-of-a-file\n',
}

/** Makes the folder, with these files besides; `remove` takes it away. */
export function pluginFolder(more: Readonly<Record<string, string>> = {}): {
  folder: string
  remove(): void
} {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'earshot-config-')))
  for (const [path, text] of Object.entries({ ...FILES, ...more })) {
    const full = join(folder, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, text)
  }
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}
