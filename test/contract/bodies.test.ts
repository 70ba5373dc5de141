import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { assertError, idsOf, operations, pathOf } from './requests.ts'
import { sampleOf, violationsOf, withChange } from './sample.ts'

/** Every way in which the contract says that a body or a query can be bad: 400, the field is named, nothing is written. */
const platform = await createPlatform({ after })
const { a, call } = platform

for (const [name, operation] of operations) {
  const path = pathOf(operation, idsOf(operation, a.objects))
  const { body, query } = operation

  if (body) {
    test(`${name}: 400 names the field of the body that is bad`, async () => {
      const before = await platform.fingerprint()
      const sample = sampleOf(body)
      for (const { what, field, path: at, value } of violationsOf(body)) {
        const answer = await call(a.tokens.ADMIN, operation.method, path, withChange(sample, at, value))
        assertError(answer, 400)
        assert.ok(answer.body.message.startsWith(`${field} `), `${field} ${what}: ${answer.body.message}`)
      }
      for (const whole of ['[]', '"text"', 'null', '7', 'true']) {
        const answer = await call(a.tokens.ADMIN, operation.method, path, whole)
        assertError(answer, 400)
        assert.match(answer.body.message, /^The body must be an object/, whole)
      }
      assert.deepEqual(await platform.fingerprint(), before)
    })
  }

  if (query) {
    test(`${name}: 400 names the parameter of the query that is bad`, async () => {
      const ask = async (text: string) => call(a.tokens.ADMIN, operation.method, `${path}?${text}`)
      for (const { what, field, value } of violationsOf(query)) {
        // Of a query everything is text: a text cannot be of the wrong type there, nor can anything be null.
        if (value === null || typeof value === 'object' || (what === 'of the wrong type' && value === 7)) continue
        const answer = await ask(`${field}=${value}`)
        assertError(answer, 400)
        assert.ok(answer.body.message.startsWith(`${field} `), `${field} ${what}: ${answer.body.message}`)
      }
      for (const field of Object.keys(query.properties)) {
        for (const text of [`${field}=1&${field}=1`, `${field}=`, `${field}=%20`]) {
          const answer = await ask(text)
          assertError(answer, 400)
          assert.ok(answer.body.message.startsWith(`${field} `), `${text}: ${answer.body.message}`)
        }
      }
    })
  }
}
