import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openApi } from '../../contract/openapi.ts'
import { createPlatform } from '../support/platform.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'

/** test/contract/access.test.ts covers C1 to C9 (each permission at each operation). */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const { projectId, environmentId, applicationId } = a.objects
const origin = await platform.listen()

test('C3, C4: deploy needs DEPLOY, which WRITE does not include', async () => {
  const path = `/application/${applicationId}/deploy`
  assert.equal((await call(a.tokens.WRITE, 'POST', path, {})).status, 403)
  assert.equal((await call(a.tokens.DEPLOY, 'POST', path, {})).status, 202)
})

test('C7: an admin of A has no rights in B', async () => {
  for (const path of ['organization', 'project', 'environment', 'application'] as const) {
    assert.equal((await call(a.tokens.ADMIN, 'GET', `/${path}/${b.objects[`${path}Id`]}`)).status, 404)
  }
})

test('C10: the body is not parsed without the permission', async () => {
  for (const body of ['{"broken', '{}', '{"name":7}', `{"name":"${'x'.repeat(300)}"}`]) {
    assert.equal((await call(a.tokens.READ, 'POST', `/organization/${a.organizationId}/project`, body)).status, 403)
  }
})

test('C11: only the request line decides what is requested', async () => {
  const before = await platform.fingerprint()
  const path = `/project/${projectId}`
  const disguises = [
    { 'x-http-method-override': 'DELETE' },
    { 'x-method-override': 'PUT' },
    { 'x-original-url': `/organization/${a.organizationId}/project` },
    { 'x-rewrite-url': '/organization' },
  ]
  for (const headers of disguises) {
    const answer = await call(a.tokens.ADMIN, 'GET', path, undefined, headers)
    assert.equal(Object(answer.body).id, projectId)
  }
  assert.equal(Object((await call(a.tokens.ADMIN, 'GET', `${path}?_method=DELETE`)).body).id, projectId)
  assert.deepEqual(await platform.fingerprint(), before)
})

test('C12: other methods reach no handler', async () => {
  const before = await platform.fingerprint()
  const path = `/project/${projectId}`
  const head = await call(a.tokens.READ, 'HEAD', path)
  assert.deepEqual([head.status, head.text], [200, ''])
  for (const method of ['OPTIONS', 'TRACE', 'PATCH', 'POST', 'PROPFIND']) {
    const answer = await call(a.tokens.ADMIN, method, path)
    assert.equal(answer.status, 405, `${method}: ${answer.text}`)
    assert.deepEqual(String(answer.headers['allow']).split(', ').sort(), ['DELETE', 'GET', 'PUT'])
  }
  for (const method of ['CONNECT', 'FOO']) {
    const authorization = [`Authorization: Bearer ${a.tokens.ADMIN}`]
    const { statuses } = await sendRaw(origin, rawRequest(`${method} ${path}`, authorization), { answers: 1 })
    assert.ok(
      statuses.every((status) => status >= 400 && status < 500),
      `${method}: ${statuses}`,
    )
  }
  assert.deepEqual(await platform.fingerprint(), before)
})

const odd = (id: string): string[] => [
  `//project/${id}`,
  `/Project/${id}`,
  `/project//${id}`,
  `/project/${id}/`,
  `/project/${id};v=1`,
  `/project/${id}%2f`,
  `/project/%2e%2e/project/${id}`,
  `/project/../project/${id}`,
  `/organization/../project/${id}`,
  `/project/${id.replace('-', '%252d')}`,
  `/project\\${id}`,
  `/project/${id}%00`,
  `/project/${id}%0a`,
  `/project/%`,
  `/project/%zz`,
]
for (const path of odd(projectId)) {
  test(`C13: ${path.replace(projectId, '<id>')} is 404 over the wire`, async () => {
    const headers = [`Authorization: Bearer ${a.tokens.ADMIN}`]
    const { statuses, text } = await sendRaw(origin, rawRequest(`GET ${path}`, headers), { answers: 1 })
    assert.deepEqual(statuses, [404], text)
  })
}

test('C13: an escaped but equal path is the same object for routing and authorization', async () => {
  const escaped = (id: string): string => id.replace(/[0-9a-f]/, (c) => `%${c.charCodeAt(0).toString(16)}`)
  assert.equal((await call(a.tokens.READ, 'GET', `/project/${escaped(projectId)}`)).status, 200)
  assert.equal((await call(a.tokens.READ, 'GET', `/project/${escaped(b.objects.projectId)}`)).status, 404)
})

test('C15: a permission that a token loses is gone at the next call', async () => {
  const made = await call(a.tokens.ADMIN, 'POST', `/organization/${a.organizationId}/apiToken`, { name: 'c15' })
  const { id, token } = Object(made.body)
  const edit = () => call(token, 'PUT', `/environment/${environmentId}`, { mode: 'STAGING' })
  assert.equal((await edit()).status, 200)
  await database`update api_token set permissions = '{READ}' where id = ${id}`
  assert.equal((await edit()).status, 403)
})

test('C16: only an admin makes tokens, so no token exceeds the rights of its maker', async () => {
  for (const permission of ['READ', 'DEPLOY', 'WRITE'] as const) {
    const path = `/organization/${a.organizationId}/apiToken`
    assert.equal((await call(a.tokens[permission], 'POST', path, { name: 'more', scope: 'ADMIN' })).status, 403)
  }
})

test('every operation of the document names its permission', () => {
  const { paths } = Object(openApi('0'))
  const all = Object.values<Record<string, { description: string }>>(paths).flatMap((path) => Object.values(path))
  assert.ok(all.length > 70)
  for (const { description } of all)
    assert.match(description, /^Requires the permission (READ|DEPLOY|WRITE|ADMIN)\.( .+)?$/s)
})
