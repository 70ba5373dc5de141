import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Access, Operation, Permission } from '../../contract/operation.ts'
import { createPlatform } from '../support/platform.ts'
import {
  assertError,
  comparable,
  goodBody,
  goodRequest,
  idsOf,
  isId,
  operations,
  pathOf,
  unknownId,
} from './requests.ts'

/** Which credentials each operation accepts. */
const platform = await createPlatform({ after })
const { a, b, call } = platform

/**
 * The permission that each kind of access needs. Repeated here on purpose, independently of the
 * code.
 */
const enough: Record<Access, readonly Permission[]> = {
  read: ['READ', 'DEPLOY', 'WRITE', 'ADMIN'],
  deploy: ['DEPLOY', 'ADMIN'],
  write: ['WRITE', 'ADMIN'],
  admin: ['ADMIN'],
}
/** Sends an invalid body: token and permission are checked before it. */
const knock = (token: string | undefined, operation: Operation, ids: readonly string[]) =>
  call(token, operation.method, pathOf(operation, ids), operation.body && '{"nonsense"')

for (const [name, operation] of operations) {
  const ids = idsOf(operation, a.objects)

  test(`${name}: 401 without a valid token, and nothing changes`, async () => {
    const before = await platform.fingerprint()
    const flipped = `${a.tokens.ADMIN.slice(0, -1)}${a.tokens.ADMIN.endsWith('0') ? '1' : '0'}`
    for (const token of [undefined, 'garbage', flipped, a.tokens.expired, a.tokens.revoked]) {
      const answer = await knock(token, operation, ids)
      assertError(answer, 401)
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
      assert.equal(answer.body.error, 'Unauthorized')
    }
    assert.deepEqual(await platform.fingerprint(), before)
  })

  const lacking = (['READ', 'DEPLOY', 'WRITE'] as const).filter((one) => !enough[operation.access].includes(one))
  if (lacking.length > 0) {
    test(`${name}: 403 with ${lacking.join(' or ')} alone, and nothing changes`, async () => {
      const before = await platform.fingerprint()
      for (const permission of lacking) {
        const answer = await knock(a.tokens[permission], operation, ids)
        assertError(answer, 403)
        assert.equal(answer.body.error, 'Forbidden')
      }
      assert.deepEqual(await platform.fingerprint(), before)
    })
  }

  const positions = [...ids.keys()].filter((position) => isId(operation, position))
  if (positions.length > 0) {
    test(`${name}: 404 tells a foreign id from an unknown or impossible one by nothing`, async () => {
      const before = await platform.fingerprint()
      const foreign = idsOf(operation, b.objects)
      const ask = (token: string, wanted: readonly string[], owner = a) =>
        call(
          token,
          operation.method,
          pathOf(operation, wanted),
          goodBody(name, owner.objects) ?? (operation.body && {}),
        )
      for (const position of positions) {
        const at = (id: string) => ids.with(position, id)
        const answer = await ask(a.tokens.ADMIN, at(unknownId))
        assertError(answer, 404)
        for (const id of [
          foreign[position] ?? '',
          'abc',
          `{${ids[position]}}`,
          '00000000-0000-0000-0000-000000000000',
        ]) {
          assert.deepEqual(comparable(await ask(a.tokens.ADMIN, at(id)), id), comparable(answer, unknownId), id)
        }
      }
      assert.deepEqual(await platform.fingerprint(), before)
      if (goodRequest(name).refused?.status === 404) return
      // In B these ids exist, so the rejections above were due to the caller. A successful read may
      // store the answer of the git server.
      assert.notEqual((await ask(b.tokens.READ, foreign, b)).status, 404)
    })
  }
}
