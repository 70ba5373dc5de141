import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { goodRequest, idsOf, operations, pathOf, queryOf } from './requests.ts'

/**
 * The number of statements that a read sends after the one that authorizes it. Reads that need more
 * than one are declared. More objects must not raise the number.
 */
const declared: Readonly<Record<string, number>> = JSON.parse(
  readFileSync(new URL('statements.json', import.meta.url), 'utf8'),
)
let sent: string[] = []
const platform = await createPlatform({ after }, { onStatement: (text) => void sent.push(text) })
const { a, call } = platform

async function statementsOf(method: string, path: string): Promise<number> {
  // The first call may fill caches.
  await call(a.tokens.ADMIN, method, path)
  sent = []
  await call(a.tokens.ADMIN, method, path)
  return sent.length - 1
}

const reads = operations.filter(
  ([name, { method, refuses }]) => method === 'GET' && !refuses && !goodRequest(name).refused,
)
const ask = async (): Promise<Map<string, number>> => {
  const counts = new Map<string, number>()
  for (const [name, operation] of reads) {
    const path = `${pathOf(operation, idsOf(operation, a.objects))}${queryOf(goodRequest(name))}`
    counts.set(name, await statementsOf(operation.method, path))
  }
  return counts
}
const few = await ask()
for (const name of ['second', 'third', 'fourth']) {
  const body = { name, git_repository: { url: 'http://localhost:3000/git/hello.git' } }
  const made = await call(a.tokens.ADMIN, 'POST', `/environment/${a.objects.environmentId}/application`, body)
  assert.equal(made.status, 201, made.text)
}
await platform.addObjects(a)
const many = await ask()

for (const [name] of reads) {
  test(`${name} sends as many statements as declared, and not more for more objects`, () => {
    assert.ok((few.get(name) ?? 0) <= (declared[name] ?? 1), `${few.get(name)} statements`)
    assert.equal(many.get(name), few.get(name))
  })
}
