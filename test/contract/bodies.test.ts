import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { requiredMembers } from '../../contract/operation.ts'
import { createPlatform } from '../support/platform.ts'
import { assertError, goodRequest, idsOf, operations, pathOf, queryOf } from './requests.ts'
import { sampleOf, violationsOf, withChange } from './sample.ts'

/**
 * Every way in which a body or a query can violate the contract: the answer is 400, names the
 * field, and nothing is written.
 */
const platform = await createPlatform({ after })
const { a, call } = platform

for (const [name, operation] of operations) {
  const path = pathOf(operation, idsOf(operation, a.objects))
  const { body, query } = operation
  const good = goodRequest(name, a.objects)

  // A body that is a string is read as a whole, and its room reports the error.
  if (body && body.type !== 'string') {
    test(`${name}: 400 names the invalid field of the body`, async () => {
      const before = await platform.fingerprint()
      const sample = sampleOf(body)
      for (const { what, field, path: at, value } of violationsOf(body)) {
        const answer = await call(
          a.tokens.ADMIN,
          operation.method,
          `${path}${queryOf(good)}`,
          withChange(sample, at, value),
        )
        assertError(answer, 400)
        assert.ok(answer.body.message.startsWith(`${field} `), `${field} ${what}: ${answer.body.message}`)
      }
      const wholes = ['[]', '"text"', '7', 'true', ...(requiredMembers(body).length > 0 ? ['null'] : [])]
      for (const whole of wholes) {
        const answer = await call(a.tokens.ADMIN, operation.method, `${path}${queryOf(good)}`, whole)
        assertError(answer, 400)
        assert.match(answer.body.message, /^The body must be an object/, whole)
      }
      assert.deepEqual(await platform.fingerprint(), before)
    })
  }

  if (query) {
    test(`${name}: 400 names the invalid parameter of the query`, async () => {
      const ask = async (field: string, text: string) => {
        const others = new URLSearchParams(good.query)
        others.delete(field)
        return call(a.tokens.ADMIN, operation.method, `${path}?${[`${others}`, text].filter(Boolean).join('&')}`)
      }
      for (const { what, field, value } of violationsOf(query)) {
        // Every query value is a string, so it cannot be of the wrong type or null.
        if (value === null || typeof value === 'object' || (what === 'of the wrong type' && value === 7)) continue
        const answer = await ask(field, value === undefined ? '' : `${field}=${value}`)
        assertError(answer, 400)
        assert.ok(answer.body.message.startsWith(`${field} `), `${field} ${what}: ${answer.body.message}`)
      }
      for (const field of Object.keys(query.properties)) {
        for (const text of [`${field}=1&${field}=1`, `${field}=`, `${field}=%20`]) {
          const answer = await ask(field, text)
          assertError(answer, 400)
          assert.ok(answer.body.message.startsWith(`${field} `), `${text}: ${answer.body.message}`)
        }
      }
    })
  }
}
