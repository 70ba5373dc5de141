import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'

let sent: string[] = []
const { a, b, call } = await createPlatform({ after }, { onStatement: (text) => void sent.push(text) })
const path = `/environment/${a.objects.environmentId}/application`
const list = async () => {
  const answer = await call(a.tokens.ADMIN, 'GET', path)
  assert.equal(answer.status, 200, answer.text)
  return answer.text
}
const listStatements = () => sent.filter((text) => /^\s*select s\.\*/.test(text)).length

test('lists asked for at the same time share one statement and one answer', async () => {
  await list()
  sent = []
  const [first, second, third] = await Promise.all([list(), list(), list()])
  assert.equal(listStatements(), 1)
  assert.deepEqual([second, third], [first, first])
})

test('a caller who may not read the list gets no share of it', async () => {
  const [, foreign, unknown] = await Promise.all([
    list(),
    call(b.tokens.ADMIN, 'GET', path),
    call('quayside_unknown', 'GET', path),
  ])
  assert.deepEqual([foreign?.status, unknown?.status], [404, 401])
})

test('a list that is asked for after a change has the change', async () => {
  const earlier = list()
  const body = { name: 'listed-later', git_repository: { url: 'http://localhost:3000/git/hello.git' } }
  const made = await call(a.tokens.ADMIN, 'POST', path, body)
  assert.equal(made.status, 201, made.text)
  assert.match(await list(), /listed-later/)
  await earlier
})
