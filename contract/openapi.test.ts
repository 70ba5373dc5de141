import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { contract } from './contract.ts'
import { openApi, socketsMark } from './openapi.ts'
import type { Operation } from './operation.ts'
import manifest from './package.json' with { type: 'json' }
import { type Stream, streamPaths, streams } from './streams.ts'

test('contract/openapi.json matches the contract', () => {
  const checkedIn = readFileSync(new URL('openapi.json', import.meta.url), 'utf8')
  assert.equal(checkedIn, `${JSON.stringify(openApi(manifest.version), null, 2)}\n`, 'run: npm run emit')
})

test('the paths of the OpenAPI document have no WebSocket', () => {
  const document = Object(openApi(manifest.version))
  assert.deepEqual(Object.keys(document[socketsMark]), streamPaths)
  for (const path of streamPaths) assert.ok(!(path in document.paths), path)
})

test('the OpenAPI document describes the query and messages of every stream', () => {
  const document = Object(openApi(manifest.version))
  const { paths } = document
  const forPeople = Object(openApi(manifest.version, { socketsAmongPaths: true })).paths
  for (const path of streamPaths) {
    const stream: Stream = streams[path]
    const { parameters, responses } = document[socketsMark][path].get
    assert.deepEqual(forPeople[path], document[socketsMark][path])
    const required = parameters
      .filter((one: { required: boolean }) => one.required)
      .map(({ name }: { name: string }) => name)
    assert.deepEqual(required, stream.query.required ?? [], path)
    assert.equal('content' in responses[101], stream.message !== undefined, path)
  }
  const events = paths['/organization/{organizationId}/stream'].get
  assert.deepEqual(Object.keys(events.responses[200].content), ['text/event-stream'])
  assert.equal(events['x-quayside-extension'], true)
})

/** The part of JSON Schema that decides the length of the shortest value. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minLength?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** Returns the bytes of JSON of the shortest value of a schema. */
function leastBytes(schema: Schema): number {
  if (schema.anyOf) return Math.min(...schema.anyOf.map(leastBytes))
  if (schema.enum) return Math.min(...schema.enum.map((value) => JSON.stringify(value).length))
  if (schema.format === 'uuid') return 38
  if ([schema.type].flat().includes('null')) return 4
  const members = (schema.required ?? []).filter((name) => !('default' in (schema.properties?.[name] ?? {})))
  switch ([schema.type].flat()[0]) {
    case 'string':
      return 2 + (schema.minLength ?? 0)
    case 'array':
      return 2 + (schema.minItems ?? 0) * leastBytes(schema.items ?? {})
    case 'object':
      return 2 + members.reduce((sum, name) => sum + name.length + 4 + leastBytes(schema.properties?.[name] ?? {}), 0)
    default:
      return 1
  }
}

function* listsOf(schema: Schema, at: string): Generator<{ at: string; list: Schema }> {
  for (const choice of schema.anyOf ?? []) yield* listsOf(choice, at)
  for (const [name, property] of Object.entries(schema.properties ?? {})) yield* listsOf(property, `${at}.${name}`)
  if (!schema.items) return
  yield { at, list: schema }
  yield* listsOf(schema.items, `${at}[]`)
}

test('the largest body has room for the most entries of each list', () => {
  const usualLimit = 256 * 1024
  for (const [name, { body, maxBodyBytes = usualLimit }] of Object.entries<Operation>(contract)) {
    for (const { at, list } of body ? listsOf(body as Schema, name) : []) {
      const bytes = (list.maxItems ?? Number.POSITIVE_INFINITY) * (leastBytes(list.items ?? {}) + 1)
      assert.ok(bytes <= maxBodyBytes, `${at}: ${list.maxItems} entries take at least ${bytes} bytes`)
    }
  }
})
