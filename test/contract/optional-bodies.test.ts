import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requiredMembers } from '../../contract/operation.ts'
import { bodyReader } from '../../server/http/read-body.ts'
import type { Objects } from '../support/fixture.ts'
import { type Answer, createPlatform } from '../support/platform.ts'
import { assertError, goodRequest, idsOf, operations, pathOf, queryOf } from './requests.ts'

/**
 * Bodies that clients send if a body is optional or an operation has none: an empty one, `{}` or,
 * from the Go client, `null`.
 */
const platform = await createPlatform({ after })
const { a, call } = platform

/** Replaces ids and times, which differ between two objects of the fixture. */
const shapeOf = ({ status, body }: Answer): unknown => [status, Object.keys(Object(body)).sort()]

const writing = operations.filter(([, { method }]) => method !== 'GET')
const optional = writing.filter(([, { body }]) => body?.type === 'object' && requiredMembers(body).length === 0)
const required = writing.filter(([, { body }]) => body?.type === 'object' && requiredMembers(body).length > 0)
const without = writing.filter(([, { body }]) => body === undefined)

test('operations of each sort are found', () => {
  assert.ok(optional.length >= 24 && required.length >= 50 && without.length >= 50)
})

for (const [name, operation] of optional) {
  test(`${name}: a null body equals an empty one`, async () => {
    const ask = async (body: string | undefined): Promise<Answer> => {
      // An organization has a limited number of them.
      await platform.database`delete from webhook where organization_id = ${a.organizationId}`
      const fresh: Objects = await platform.addObjects(a)
      const { prepare, credential } = goodRequest(name)
      const objects = { ...fresh, ...(await prepare?.(platform, fresh)) }
      const token = (await credential?.(platform, objects)) ?? a.tokens.ADMIN
      const path = `${pathOf(operation, idsOf(operation, objects))}${queryOf(goodRequest(name, objects))}`
      return call(token, operation.method, path, body, { 'content-type': 'application/json' })
    }
    const absent = await ask(undefined)
    assert.notEqual(absent.status, 500)
    assert.deepEqual(shapeOf(await ask('null')), shapeOf(absent))
  })
}

for (const [name, operation] of required) {
  test(`${name}: a body of null is 400`, async () => {
    const path = `${pathOf(operation, idsOf(operation, a.objects))}${queryOf(goodRequest(name, a.objects))}`
    const answer = await call(a.tokens.ADMIN, operation.method, path, 'null')
    assertError(answer, 400)
    assert.match(answer.body.message, /^The body must be an object/)
  })
}

test('an operation without a body accepts none, null or an object, and ignores it', () => {
  for (const [name, operation] of without) {
    for (const text of ['', 'null', '{}', '{"members":"of others"}', '  null\n']) {
      assert.equal(bodyReader(operation)({ body: Buffer.from(text) }), undefined, name)
    }
  }
})

for (const [name, operation] of without) {
  test(`${name}: a body that is not a JSON object is 400 and changes nothing`, async () => {
    const before = await platform.fingerprint()
    const path = `${pathOf(operation, idsOf(operation, a.objects))}${queryOf(goodRequest(name, a.objects))}`
    for (const body of ['{"broken', '[]', '"text"', '7', 'true', '{"a":1,"a":2}', 'nul']) {
      assertError(await call(a.tokens.ADMIN, operation.method, path, body), 400)
    }
    assert.deepEqual(await platform.fingerprint(), before)
  })
}
