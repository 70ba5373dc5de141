import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { openApi } from './openapi.ts'
import manifest from './package.json' with { type: 'json' }
import { type Stream, streamPaths, streams } from './streams.ts'

test('the checked-in OpenAPI document is what the contract says', () => {
  const checkedIn = readFileSync(new URL('openapi.json', import.meta.url), 'utf8')
  assert.equal(checkedIn, `${JSON.stringify(openApi(manifest.version), null, 2)}\n`, 'run: npm run emit')
})

test('every stream is an operation of the document: what it is asked with, what it is sent', () => {
  const { paths } = Object(openApi(manifest.version))
  for (const path of streamPaths) {
    const stream: Stream = streams[path]
    const { parameters, responses } = paths[path].get
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
