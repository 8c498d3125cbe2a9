import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import { editorSchema, editorSchemaText } from '../../../../core/config/editor-schema.ts'
import { builtIns } from '../../../../core/find-plugin.ts'
import { definePlugin, service, Type } from '../../../../core/index.ts'

const plugin = definePlugin({
  name: 'phone',
  api: 1,
  options: Type.Object({
    listen: Type.String(),
    lines: Type.Integer({ default: 2 }),
    nested: Type.Optional(Type.Array(Type.Object({ loud: Type.Boolean() }))),
    default: Type.Optional(Type.Union([Type.Literal('a'), Type.Number()])),
  }),
  requires: { need: service('thing') },
  setup: () => ({}),
})

const validate = new Ajv({ strict: false, validateFormats: false }).compile(
  editorSchema([{ use: './plugins/phone/index.ts', plugin }]),
)
const accepts = (options: object, entry: object = {}): boolean =>
  validate({ plugins: { x: { use: '../../plugins/phone/index.ts', options, ...entry } } })

test('the committed edge.schema.json is what `earshot schema --write` writes', async () => {
  const committed = readFileSync(join(import.meta.dirname, '../../../../edge.schema.json'), 'utf8')
  assert.equal(
    committed,
    editorSchemaText(await builtIns()),
    'stale: run `npm run schema` and commit the file',
  )
})

test('numbers and booleans may be placeholders, what has a default may be left out', () => {
  assert.ok(accepts({ listen: 'x' }))
  assert.ok(accepts({ listen: 'x', lines: '${LINES}', nested: [{ loud: '${LOUD:-true}' }] }))
  assert.ok(accepts({ listen: 'x', default: '${N}' }))
  assert.ok(!accepts({ listen: 'x', lines: 'many' }))
  assert.ok(!accepts({ lines: 2 }))
})

test('the configs that are shipped are right in an editor, placeholders of keys and URLs too', async () => {
  const root = join(import.meta.dirname, '../../../..')
  const shipped = new Ajv({ strict: false }).compile(editorSchema(await builtIns()))
  for (const file of ['edge.config.json', ...globSync('deploy/roles/*.json', { cwd: root })]) {
    shipped(JSON.parse(readFileSync(join(root, file), 'utf8')))
    assert.deepEqual(shipped.errors, null, file)
  }
})

test('unknown options and unknown services to bind are errors in the editor, too', () => {
  assert.ok(!accepts({ listen: 'x', lisen: 'x' }))
  assert.ok(!accepts({ listen: 'x', nested: [{ loud: true, more: 1 }] }))
  assert.ok(accepts({ listen: 'x' }, { bind: { need: 'y' } }))
  assert.ok(!accepts({ listen: 'x' }, { bind: { ned: 'y' } }))
  assert.ok(!accepts({ listen: 'x' }, { option: {} }))
})

test('a plugin of another path keeps its options to itself', () => {
  assert.ok(validate({ plugins: { x: { use: './plugins/megaphone/index.ts', options: { any: 1 } } } }))
  assert.ok(!validate({ plugins: {}, plugin: {} }))
  assert.ok(
    validate({ $schema: './edge.schema.json', plugins: {}, admin: false, http: { tls: 'self-signed' } }),
  )
})
