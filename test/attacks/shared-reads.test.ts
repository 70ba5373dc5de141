import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { newId } from '../../server/lib/id.ts'
import { tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/** Equal reads at the same time share an execution, but never with another caller. */
let lists = 0
const onStatement = (text: string): void => {
  if (/from project/.test(text) && /order by/.test(text)) lists++
}
const platform = await createPlatform({ after }, { onStatement })
const { a, b, call, rooms } = platform
const path = `/organization/${a.organizationId}/project`
const listed = (body: unknown): readonly string[] => Object(body).results.map(({ id }: { id: string }) => id)

test('callers with different rights get their own lists at the same time', async () => {
  const role = await rooms.customRoles.create(a.organizationId, { name: newId() })
  const restricted = await tokenWithRole(platform, a.organizationId, role.id)
  const [reader, admin] = [a.tokens.READ, a.tokens.ADMIN]
  const tokens = Array.from({ length: 90 }, (_, index) => [reader, restricted, admin, b.tokens.ADMIN][index % 4] ?? '')
  lists = 0
  const answers = await Promise.all(tokens.map(async (token) => ({ token, ...(await call(token, 'GET', path)) })))
  for (const { token, status, body } of answers) {
    if (token === b.tokens.ADMIN) assert.equal(status, 404)
    else assert.deepEqual([status, listed(body).length > 0], [200, token !== restricted])
  }
  assert.ok(lists > 0 && lists < 45, `${lists} statements for 68 lists`)
})

test('a list that is read after a change has it, while others read the same list', async () => {
  const token = a.tokens.ADMIN
  let ended = false
  const others = Array.from({ length: 8 }, async () => {
    while (!ended) assert.equal((await call(token, 'GET', path)).status, 200)
  })
  try {
    for (let round = 0; round < 20; round++) {
      const { status, body } = await call(token, 'POST', path, { name: newId() })
      assert.equal(status, 200)
      const answers = await Promise.all([1, 2, 3].map(() => call(token, 'GET', path)))
      for (const answer of answers) assert.ok(listed(answer.body).includes(String(Object(body).id)))
    }
  } finally {
    ended = true
    await Promise.all(others)
  }
})

test('a token that was revoked does not share the answer of one that is valid', async () => {
  const maker = { name: 'maker', permissions: ['ADMIN' as const] }
  const made = await rooms.apiTokens.create(a.organizationId, maker, { name: newId(), scope: 'ADMIN' })
  assert.equal((await call(made.token, 'GET', path)).status, 200)
  const before = Array.from({ length: 10 }, () => call(made.token, 'GET', path))
  await rooms.apiTokens.remove(a.organizationId, made.id)
  assert.equal((await call(made.token, 'GET', path)).status, 401)
  for (const { status } of await Promise.all(before)) assert.ok(status === 200 || status === 401)
})
