import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Secret } from '../lib/secret.ts'
import { ResolveError } from './interpolate.ts'
import { type Definition, type Resolved, resolve } from './resolve.ts'

const define = (key: string, text: Definition['text'], more: Partial<Definition> = {}): Definition => ({
  id: `id of ${key} in ${more.scope ?? 'SERVICE'}`,
  scope: 'SERVICE',
  key,
  type: 'VALUE',
  text,
  mountPath: undefined,
  interpolatesFile: false,
  baseId: undefined,
  ...more,
})
const reveal = (value: string | Secret | undefined): string | undefined =>
  value instanceof Secret ? value.reveal() : value
const textOf = (resolved: Resolved, key: string): string | undefined => reveal(resolved.variables.get(key)?.value)
const failsWith = (reason: ResolveError['reason'], key: string) => (error: unknown) =>
  error instanceof ResolveError && error.reason === reason && error.key === key && error.message.includes(key)

describe('scopes', () => {
  test('the narrowest scope wins, in any order of rows', () => {
    const rows = (['SERVICE', 'PROJECT', 'ENVIRONMENT'] as const).map((scope) => define('A', scope, { scope }))
    const builtIns = [{ id: 'b', key: 'A', value: 'BUILT_IN' }]
    fc.assert(
      fc.property(fc.shuffledSubarray(rows), (some) => {
        const expected = ['SERVICE', 'ENVIRONMENT', 'PROJECT'].find((scope) => some.some((row) => row.scope === scope))
        assert.equal(textOf(resolve(some, builtIns), 'A'), expected ?? 'BUILT_IN')
      }),
    )
  })

  test('keys are case-sensitive', () => {
    const resolved = resolve([define('a', '1'), define('A', '2')], [])
    assert.deepEqual([textOf(resolved, 'a'), textOf(resolved, 'A')], ['1', '2'])
  })

  test('names of JavaScript properties are ordinary names', () => {
    const resolved = resolve([define('constructor', '1'), define('X', '{{constructor}}{{toString}}')], [])
    assert.deepEqual([...resolved.variables.keys()], ['constructor', 'X'])
    assert.equal(textOf(resolved, 'X'), '1')
  })
})

describe('overrides and aliases', () => {
  const base = define('A', 'wide', { scope: 'PROJECT' })

  test('an override replaces the value under the same key', () => {
    const override = define('A', 'narrow', { type: 'OVERRIDE', baseId: base.id })
    assert.equal(textOf(resolve([override, base], []), 'A'), 'narrow')
  })

  test('a built-in can be overridden and aliased', () => {
    const builtIn = { id: 'b', key: 'QOVERY_PROJECT_ID', value: 'p' }
    const override = define('QOVERY_PROJECT_ID', 'mine', { type: 'OVERRIDE', baseId: 'b' })
    const alias = define('PROJECT', undefined, { type: 'ALIAS', baseId: 'b' })
    const resolved = resolve([override, alias], [builtIn])
    assert.equal(textOf(resolved, 'QOVERY_PROJECT_ID'), 'mine')
    assert.equal(textOf(resolved, 'PROJECT'), 'p')
  })

  test('an alias takes the interpolated value of exactly its target', () => {
    const target = define('A', 'x{{B}}', { scope: 'PROJECT' })
    const rows = [
      target,
      define('A', 'narrow'),
      define('B', '1'),
      define('C', undefined, { type: 'ALIAS', baseId: target.id }),
    ]
    assert.equal(textOf(resolve(rows, []), 'C'), 'x1')
  })

  test('an alias of a missing variable is empty', () => {
    assert.equal(textOf(resolve([define('C', undefined, { type: 'ALIAS', baseId: 'gone' })], []), 'C'), '')
  })

  test('aliases of each other terminate', () => {
    const one = define('A', undefined, { type: 'ALIAS', baseId: 'id of B in SERVICE' })
    const two = define('B', undefined, { type: 'ALIAS', baseId: 'id of A in SERVICE' })
    assert.equal(textOf(resolve([one, two], []), 'A'), '')
  })

  test('an alias or override of a secret is a secret', () => {
    const secret = define('S', new Secret('hidden'), { scope: 'PROJECT' })
    const alias = define('C', undefined, { type: 'ALIAS', baseId: secret.id })
    const resolved = resolve([secret, alias], [])
    assert.equal(resolved.variables.get('C')?.isSecret, true)
    assert.equal(textOf(resolved, 'C'), 'hidden')
    assert.equal(JSON.stringify([...resolved.variables]).includes('hidden'), false)
  })
})

describe('interpolation', () => {
  test('a reference takes the text of the winning variable, an unknown one an empty text', () => {
    const rows = [
      define('HOST', 'wide', { scope: 'PROJECT' }),
      define('HOST', 'db'),
      define('URL', 'tcp://{{HOST}}:{{NO}}/'),
    ]
    const resolved = resolve(rows, [])
    assert.equal(textOf(resolved, 'URL'), 'tcp://db:/')
    assert.deepEqual([...resolved.missing], [['URL', ['NO']]])
  })

  test('replaced text is not scanned again', () => {
    const rows = [define('A', '<{{B}}>'), define('B', '{{C}}'), define('C', 'c')]
    const resolved = resolve(rows, [])
    assert.equal(textOf(resolved, 'A'), '<{{C}}>')
    assert.equal(textOf(resolved, 'B'), 'c')
  })

  test('two halves joined by a replacement are not a reference', () => {
    const resolved = resolve([define('A', '{{{B}}C}}'), define('B', '{'), define('C', 'c')], [])
    assert.equal(textOf(resolved, 'A'), '{{C}}')
  })

  test('double braces without a name are unchanged', () => {
    const text = '{{}} {{ B }} {{1}} {{.Values}} {B} {{B} $B {{é}}'
    assert.equal(textOf(resolve([define('A', text), define('B', 'b')], []), 'A'), text)
  })

  test('a value that uses a secret is a secret, and others are not', () => {
    const resolved = resolve([define('S', new Secret('hid')), define('A', '{{S}}!'), define('B', 'b{{A}}')], [])
    assert.deepEqual([textOf(resolved, 'A'), resolved.variables.get('A')?.isSecret], ['hid!', true])
    assert.deepEqual([textOf(resolved, 'B'), resolved.variables.get('B')?.isSecret], ['b{{S}}!', false])
  })

  test('cycles are rejected by name, whatever they include', () => {
    assert.throws(() => resolve([define('A', 'x{{A}}')], []), failsWith('cycle', 'A'))
    const three = [define('A', '{{B}}'), define('B', '{{C}}'), define('C', '{{A}}')]
    assert.throws(() => resolve(three, []), failsWith('cycle', 'A'))
    const alias = define('B', undefined, { type: 'ALIAS', baseId: 'id of A in SERVICE' })
    assert.throws(() => resolve([define('A', '{{B}}'), alias], []), failsWith('cycle', 'B'))
  })

  test('many uses of one variable are not a cycle', () => {
    const rows = [define('A', '{{B}}{{C}}'), define('B', '{{D}}'), define('C', '{{D}}'), define('D', 'd')]
    assert.equal(textOf(resolve(rows, []), 'A'), '{{D}}{{D}}')
  })

  test('a chain of ten thousand variables is resolved', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => define(`A${index}`, `{{A${index + 1}}}`))
    assert.equal(resolve(rows, []).variables.size, 10_000)
    const closed = [...rows, define('A10000', '{{A0}}')]
    assert.throws(() => resolve(closed, []), failsWith('cycle', 'A0'))
  })

  test('a value beyond its limit is rejected by name without being built', () => {
    const rows = [define('BIG', 'x'.repeat(128_000)), define('A', '{{BIG}}'.repeat(18_000))]
    const before = process.memoryUsage().heapUsed
    assert.throws(() => resolve(rows, []), failsWith('too-large', 'A'))
    assert.ok(process.memoryUsage().heapUsed - before < 50_000_000)
  })

  test('texts without braces and built-ins are unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const plain = text.replaceAll('{', '')
        const resolved = resolve([define('A', plain), define('B', `[{{A}}]`)], [{ id: 'b', key: 'X', value: '{{A}}' }])
        assert.equal(textOf(resolved, 'A'), plain)
        assert.equal(textOf(resolved, 'B'), `[${plain}]`)
        assert.equal(textOf(resolved, 'X'), '{{A}}')
      }),
    )
  })

  test('the result equals a replacement by a plain reading of the rule', () => {
    const keys = ['A', 'B', 'C', 'D'] as const
    const piece = fc.oneof(
      fc.constantFrom('{{A}}', '{{B}}', '{{C}}', '{{D}}', '{{E}}', '{', '}', '{{', '}}'),
      fc.string(),
    )
    const texts = fc.tuple(...keys.map(() => fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(''))))
    fc.assert(
      fc.property(texts, fc.nat(15), (values, secrets) => {
        const rows = keys.map((key, index) => {
          const text = values[index] ?? ''
          return define(key, secrets & (1 << index) ? new Secret(text) : text)
        })
        const raw: Record<string, string> = Object.fromEntries(keys.map((key, index) => [key, values[index] ?? '']))
        let resolved: Resolved
        try {
          resolved = resolve(rows, [])
        } catch (error) {
          if (error instanceof ResolveError && error.reason === 'cycle') return
          throw error
        }
        for (const key of keys) {
          const expected = raw[key]?.replace(/\{\{([A-Za-z]\w{0,254})\}\}/g, (_, name: string) => raw[name] ?? '')
          assert.equal(textOf(resolved, key), expected)
          const used = [key, ...[...(raw[key]?.matchAll(/\{\{([A-D])\}\}/g) ?? [])].map((match) => match[1])]
          const isSecret = used.some((name) => rows.find((row) => row.key === name)?.text instanceof Secret)
          assert.equal(resolved.variables.get(key)?.isSecret, isSecret)
        }
      }),
    )
  })
})

describe('files', () => {
  const file = (key: string, text: Definition['text'], more: Partial<Definition> = {}): Definition =>
    define(key, text, { type: 'FILE', mountPath: `/etc/${key}`, ...more })

  test('the key holds the path, the file holds the text', () => {
    const resolved = resolve([file('CONF', 'a{{X}}'), define('X', 'x')], [])
    assert.equal(textOf(resolved, 'CONF'), '/etc/CONF')
    assert.deepEqual(resolved.files, [{ path: '/etc/CONF', content: 'a{{X}}', isSecret: false }])
  })

  test('files are interpolated only where that is switched on', () => {
    const resolved = resolve([file('CONF', 'a{{X}}', { interpolatesFile: true }), define('X', new Secret('x'))], [])
    assert.deepEqual([reveal(resolved.files[0]?.content), resolved.files[0]?.isSecret], ['ax', true])
    assert.equal(resolved.variables.get('CONF')?.isSecret, false)
  })

  test('a file without interpolation is not part of a cycle', () => {
    const rows = [file('CONF', '{{CONF}}'), define('A', '{{CONF}}')]
    assert.equal(resolve(rows, []).files[0]?.content, '{{CONF}}')
  })

  test('a file may grow to one mebibyte', () => {
    const part = define('P', 'x'.repeat(100_000))
    const grown = resolve([part, file('CONF', '{{P}}'.repeat(10), { interpolatesFile: true })], [])
    assert.equal(reveal(grown.files[0]?.content)?.length, 1_000_000)
    const more = [part, file('CONF', '{{P}}'.repeat(11), { interpolatesFile: true })]
    assert.throws(() => resolve(more, []), failsWith('too-large', 'CONF'))
  })

  test('an override of a file is mounted at the same place', () => {
    const base = file('CONF', 'wide', { scope: 'PROJECT' })
    const middle = define('CONF', 'middle', { scope: 'ENVIRONMENT', type: 'OVERRIDE', baseId: base.id })
    const narrow = define('CONF', 'narrow', { type: 'OVERRIDE', baseId: middle.id })
    assert.deepEqual(resolve([narrow, base, middle], []).files, [
      { path: '/etc/CONF', content: 'narrow', isSecret: false },
    ])
  })

  test('of two files at one path the narrower one wins', () => {
    const rows = [file('A', 'narrow', { mountPath: '/x' }), file('B', 'wide', { mountPath: '/x', scope: 'PROJECT' })]
    for (const some of [rows, rows.toReversed()])
      assert.deepEqual(resolve(some, []).files, [{ path: '/x', content: 'narrow', isSecret: false }])
  })

  test('an alias of a file has its path as value', () => {
    const target = file('CONF', 'text')
    const resolved = resolve([target, define('C', undefined, { type: 'ALIAS', baseId: target.id })], [])
    assert.equal(textOf(resolved, 'C'), '/etc/CONF')
    assert.equal(resolved.files.length, 1)
  })
})
