import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApi, plainPaths } from './openapi.ts'
import { type Json, shareSchemas } from './share-schemas.ts'

/** The description with every reference to a shared schema replaced by what it stands for. */
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

test('shared schemas stand for exactly what stood in their places', () => {
  const plain = plainPaths()
  const { paths, schemas } = shareSchemas(plain)
  assert.ok(Object.keys(schemas).length > 20)
  assert.deepEqual(resolved(paths, schemas), plain)
  assert.ok(JSON.stringify([paths, schemas]).length < JSON.stringify(plain).length * 0.7)
})

test('every reference of the document leads somewhere', () => {
  const document = openApi('0')
  for (const [, path = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    const found = path.split('/').reduce<unknown>((node, key) => Reflect.get(Object(node), key), document)
    assert.notEqual(found, undefined, path)
  }
})

test('what stands once, or is small, stays where it is', () => {
  const small: Json = { type: 'object', properties: { a: { type: 'string' } } }
  const { paths, schemas } = shareSchemas({ x: small, y: small })
  assert.deepEqual([paths, schemas], [{ x: small, y: small }, {}])
})
