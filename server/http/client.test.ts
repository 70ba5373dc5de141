import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readClient } from './client.ts'

const clients: [Record<string, string>, string, string][] = [
  [{ 'user-agent': 'CLI 1.2' }, 'CLI', 'full'],
  [{ 'user-agent': 'Terraform provider 0.9' }, 'TERRAFORM_PROVIDER', 'full'],
  [{ 'user-agent': 'OpenAPI-Generator/1.0/go' }, 'API', 'full'],
  [{ 'user-agent': 'Mozilla/5.0 (X11)' }, 'CONSOLE', 'full'],
  [{ 'user-agent': 'curl/8' }, 'API', 'specification'],
  [{ 'user-agent': 'axios/1.7 CLI ' }, 'API', 'specification'],
  [{}, 'API', 'specification'],
  [{ 'user-agent': 'curl/8', 'x-state-dialect': 'full' }, 'API', 'full'],
  [{ 'user-agent': 'CLI 1.2', 'x-state-dialect': 'specification' }, 'CLI', 'specification'],
  [{ 'user-agent': 'CLI 1.2', 'x-state-dialect': 'other' }, 'CLI', 'full'],
]
for (const [headers, origin, dialect] of clients) {
  test(`${JSON.stringify(headers)} has the origin ${origin} in the history and the dialect ${dialect}`, () => {
    assert.deepEqual(readClient(headers, true), { origin, dialect })
  })
}

test('operations without short states use one dialect for every client', () => {
  for (const [headers] of clients) assert.equal(readClient(headers, undefined).dialect, 'full')
})
