import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApi, plainPaths } from './openapi.ts'
import { type Json, shareSchemas } from './share-schemas.ts'

/** Returns the description with every reference replaced by its schema. */
function resolved(node: unknown, schemas: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(node)) return node.map((item) => resolved(item, schemas))
  if (typeof node !== 'object' || node === null) return node
  const reference = /^#\/components\/schemas\/(.+)$/.exec(String(Reflect.get(node, '$ref')))?.[1]
  if (reference !== undefined) {
    assert.ok(reference in schemas, reference)
    return resolved(schemas[reference], schemas)
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value, schemas)]))
}

test('shareSchemas keeps the meaning of every schema', () => {
  const plain = plainPaths()
  const { paths, schemas } = shareSchemas(plain)
  assert.ok(Object.keys(schemas).length > 20)
  assert.deepEqual(resolved(paths, schemas), plain)
  assert.ok(JSON.stringify([paths, schemas]).length < JSON.stringify(plain).length * 0.7)
})

test('every reference of the document has a target', () => {
  const document = openApi('0')
  for (const [, path = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path.split('/').reduce<unknown>((node, key) => Reflect.get(Object(node), key), document)
    assert.notEqual(found, undefined, path)
  }
})

test('shareSchemas leaves small and unique schemas in place', () => {
  const small: Json = { type: 'object', properties: { a: { type: 'string' } } }
  const { paths, schemas } = shareSchemas({ x: small, y: small })
  assert.deepEqual([paths, schemas], [{ x: small, y: small }, {}])
})
