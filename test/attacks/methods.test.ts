import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'

/**
 * E: every method that Node's parser knows, and some that it does not, on every shape of a path.
 * The answer is 405 with Allow, or 404, never 500.
 */
const platform = await createPlatform({ after })
const { a, call } = platform
const origin = await platform.listen()
const { projectId, environmentId } = a.objects
const served = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']

const known: Readonly<Record<string, string>> = {
  '/organization': 'GET, POST',
  [`/project/${projectId}`]: 'DELETE, GET, PUT',
  [`/environment/${environmentId}/deploy`]: 'POST',
  [`/organization/${a.organizationId}/stream`]: 'GET',
  '/health/live': 'GET',
  '/openapi.json': 'GET',
  '/docs': 'GET',
  '/': 'GET',
  '/organizations/nothing': 'GET',
  '/git/hello.git/info/refs': 'GET, POST',
  '/oidc/device': 'GET, OPTIONS, POST',
  '/setup/link': 'GET, POST',
  [`/webhook/git/github/${projectId}`]: 'POST',
}
const unknown = [
  '/nothing',
  '/assets/nothing/more',
  `/project/${projectId}/nothing`,
  '/service/logs',
  '/shell/exec',
  '/%',
  '/nothing?a=b',
]

const others = METHODS.filter((method) => !served.includes(method) && method !== 'CONNECT')

test('the list of other methods is complete', () => assert.ok(others.includes('QUERY') && others.length > 20))

for (const [path, allowed] of Object.entries(known)) {
  test(`${path.replace(/[0-9a-f-]{36}/g, '<id>')} answers other methods with 405, with and without a token and a body`, async () => {
    const before = await platform.fingerprint()
    for (const method of others) {
      for (const token of [undefined, a.tokens.ADMIN]) {
        for (const body of [undefined, '{}']) {
          const answer = await call(token, method, path, body)
          assert.equal(answer.status, 405, `${method}: ${answer.text}`)
          const methods = String(answer.headers['allow']).split(', ').sort()
          assert.equal(methods.join(', '), allowed, method)
        }
      }
    }
    assert.deepEqual(await platform.fingerprint(), before)
  })
}

for (const path of unknown) {
  test(`${path.replace(/[0-9a-f-]{36}/g, '<id>')} answers other methods with 404`, async () => {
    for (const method of others) assert.equal((await call(undefined, method, path)).status, 404, method)
  })
}

test('other methods over the wire, without Content-Type and with invalid names, never give 500', async () => {
  for (const method of [...others, 'CONNECT', 'FOO', 'get', 'QUERYX', 'G\u0000T']) {
    for (const path of ['/organization', '/nothing', '/git/x.git/info/refs', '/service/logs']) {
      for (const lines of [[], ['Content-Length: 2']]) {
        const request = `${rawRequest(`${method} ${path}`, lines)}${lines.length > 0 ? '{}' : ''}`
        const { statuses, text } = await sendRaw(origin, request, { answers: 1 })
        assert.ok(
          statuses.every((status) => status >= 400 && status < 500),
          `${method} ${path}: ${text}`,
        )
      }
    }
  }
})
