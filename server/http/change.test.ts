import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { canaryOf } from '../../test/support/fixture.ts'
import { type Answer, createPlatform } from '../../test/support/platform.ts'
import { newId } from '../lib/id.ts'

const platform = await createPlatform({ after })
const { a, b, call, database } = platform

const post = (path: string, body: unknown, key: string, token = a.tokens.ADMIN) =>
  call(token, 'POST', path, body, { 'idempotency-key': key })
const put = (path: string, body: unknown, headers?: Record<string, string>) =>
  call(a.tokens.ADMIN, 'PUT', path, body, headers)
const get = (path: string, headers?: Record<string, string>) => call(a.tokens.READ, 'GET', path, undefined, headers)
const etag = (answer: Answer): string => String(answer.headers['etag'])
const rowsOf = (answer: Answer) =>
  database`select * from audit_event where request_id = ${String(answer.headers['x-request-id'])}`
const idOf = (answer: Answer): string => Object(answer.body).id
const projects = `/organization/${a.organizationId}/project`

test('a change that fails after its statements leaves no rows, including in the audit log', async () => {
  const { projectId } = a.objects
  const before = await platform.fingerprint()
  await database.unsafe(`
    create function stumble() returns trigger language plpgsql as $$ begin raise exception 'stumbled'; end $$;
    create trigger stumble before insert on audit_event for each row execute function stumble()`)
  const failed = await put(`/project/${projectId}`, { name: 'never' })
  const deployed = await call(a.tokens.ADMIN, 'POST', `/application/${a.objects.applicationId}/deploy`, {})
  await database.unsafe('drop trigger stumble on audit_event; drop function stumble')
  assert.deepEqual([failed.status, deployed.status], [500, 500])
  assert.deepEqual(await platform.fingerprint(), before)
})

test('accepting a deployment writes its audit entry in the same statement', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const answer = await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})
  assert.equal(answer.status, 202)
  const [row, ...others] = await rowsOf(answer)
  assert.equal(others.length, 0)
  assert.deepEqual(
    [row?.['event_type'], row?.['target_type'], row?.['target_id'], row?.['environment_id'], row?.['triggered_by']],
    ['TRIGGER_DEPLOY', 'APPLICATION', applicationId, environmentId, 'DEPLOY'],
  )
  assert.deepEqual(JSON.parse(row?.['change']), { id: idOf(answer), action: 'DEPLOY', status: 'QUEUED' })
  const again = await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})
  assert.equal(idOf(again), idOf(answer), 'it joins the waiting request')
  assert.equal((await rowsOf(again)).length, 1)
  const nothing = await call(a.tokens.ADMIN, 'POST', `/application/${a.objects.applicationId}/uninstall`)
  assert.deepEqual([nothing.status, (await rowsOf(nothing)).length], [204, 1])
})

test('an audit entry holds a changed object before and after the change', async () => {
  const { projectId } = await platform.addObjects(a)
  const answer = await put(`/project/${projectId}`, { name: `named ${projectId}` })
  const [row] = await rowsOf(answer)
  assert.equal(JSON.parse(row?.['change']).name, `named ${projectId}`)
  assert.match(JSON.parse(row?.['original_change']).name, /^project \d+$/)
  const events = await call(a.tokens.ADMIN, 'GET', `/organization/${a.organizationId}/events?targetId=${projectId}`)
  assert.deepEqual(
    Object(events.body).events.map((event: { id: string }) => event.id),
    [row?.['id']],
  )
})

test('the token of a new API token is not recorded, and its kept reply is sealed', async () => {
  const path = `/organization/${a.organizationId}/apiToken`
  const answer = await post(path, { name: 'kept', scope: 'READ' }, newId())
  const { token } = Object(answer.body)
  assert.ok(token.length > 20)
  const [row] = await rowsOf(answer)
  assert.ok(!JSON.stringify(row).includes(token))
  const kept = await database`select k::text as text from kept_reply k`
  assert.ok(!kept.some(({ text }) => text.includes(token)))
})

test('a repeated POST with the same key returns the first reply, to the same caller only', async () => {
  const key = newId()
  const body = { name: `once ${key}` }
  const first = await post(projects, body, key)
  const second = await post(projects, body, key)
  assert.deepEqual([first.status, second.status], [200, 200])
  assert.equal(second.text, first.text)
  assert.deepEqual(
    [first, second].map(({ headers }) => [headers['idempotency-replayed'], headers['content-type']]),
    [
      [undefined, 'application/json; charset=utf-8'],
      ['true', 'application/json; charset=utf-8'],
    ],
  )
  assert.deepEqual([(await rowsOf(first)).length, (await rowsOf(second)).length], [1, 0])
  const other = await post(projects, { name: 'other' }, key)
  assert.equal(other.status, 409)
  assert.match(Object(other.body).message, /another body/)
  assert.equal((await post(`/organization/${b.organizationId}/project`, body, key, b.tokens.ADMIN)).status, 200)
  assert.equal((await post(projects, body, key, a.tokens.READ)).status, 403)
})

test('a POST runs once when several with the same key are sent at the same time', async () => {
  const key = newId()
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(projects, { name: `at once ${key}` }, key)))
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.equal(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1)
})

test('a failed POST can be retried with its key, deployments accept keys, and a malformed key is rejected', async () => {
  const key = newId()
  const name = `taken ${key}`
  const { id } = Object((await post(projects, { name }, newId())).body)
  assert.equal((await post(projects, { name }, key)).status, 409)
  assert.equal((await call(a.tokens.ADMIN, 'DELETE', `/project/${id}`)).status, 204)
  assert.equal((await post(projects, { name }, key)).status, 200)
  const { applicationId } = await platform.addObjects(a)
  const deploy = () => post(`/application/${applicationId}/deploy`, {}, key.toUpperCase())
  const [first, second] = [await deploy(), await deploy()]
  assert.deepEqual([first.status, second.text], [202, first.text])
  assert.equal((await rowsOf(first)).length, 1)
  for (const bad of ['', 'a b', 'ä', 'x'.repeat(256)]) {
    assert.match(Object((await post(projects, { name: 'x' }, bad)).body).message, /^Idempotency-Key must have/, bad)
  }
})

test('an ETag changes with its object, and a GET with the current ETag returns 304', async () => {
  const { applicationId } = await platform.addObjects(a)
  const path = `/application/${applicationId}`
  const first = await get(path)
  assert.match(etag(first), /^"[\w-]{27}"$/)
  assert.equal(etag(await get(path)), etag(first))
  const same = await get(path, { 'if-none-match': `"other", W/${etag(first)}` })
  assert.deepEqual([same.status, same.text, etag(same)], [304, '', etag(first)])
  assert.equal((await put(path, { cpu: 200 })).status, 200)
  const changed = await get(path, { 'if-none-match': etag(first) })
  assert.equal(changed.status, 200)
  assert.notEqual(etag(changed), etag(first))
  assert.equal((await get(`/organization/${a.organizationId}/project`)).headers['etag'], undefined)
})

test('one of two changes with the same If-Match succeeds; without If-Match the last one wins', async () => {
  const { projectId } = await platform.addObjects(a)
  const path = `/project/${projectId}`
  const tag = etag(await get(path))
  const answers = await Promise.all(
    ['x', 'y', 'z'].map((name) => put(path, { name: `${name} ${projectId}` }, { 'if-match': tag })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412])
  const refused = answers.find(({ status }) => status === 412)
  assert.match(Object(refused?.body).message, /^If-Match: the object changed since it was read. Read it again/)
  assert.equal((await put(path, { name: `w ${projectId}` })).status, 200)
  assert.equal((await put(path, { name: `v ${projectId}` }, { 'if-match': '*' })).status, 200)
  const remove = (tags: string) =>
    call(a.tokens.ADMIN, 'DELETE', `/organization/${a.organizationId}/webhook/${a.objects.webhookId}`, undefined, {
      'if-match': tags,
    })
  assert.equal((await remove(tag)).status, 412)
  const address = `/organization/${a.organizationId}/webhook/${a.objects.webhookId}`
  const hook = await call(a.tokens.ADMIN, 'GET', address)
  assert.notEqual(etag(await get(address)), etag(hook), 'readers get another answer than administrators')
  assert.equal((await remove(etag(hook))).status, 204)
  assert.equal((await remove('*')).status, 404)
})

test('If-Match is rejected when the address has no ETag, or when it is malformed', async () => {
  const { projectId } = a.objects
  const secrets = `/project/${projectId}/secret/${a.objects.secrets.project}`
  const nothing = await put(secrets, { key: 'K', value: 'v' }, { 'if-match': '"x"' })
  assert.equal(nothing.status, 400)
  assert.match(Object(nothing.body).message, /^If-Match: this address has no ETag/)
  assert.equal((await put(`/project/${projectId}`, { name: 'x' }, { 'if-match': 'x' })).status, 400)
  const canary = await database`select e::text as text from audit_event e`
  assert.ok(!canary.some(({ text }) => text.includes(canaryOf(a))))
})

test('a key treats an absent body, null and {} as the same request, and another body as a different one', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const deploy = (body: unknown) =>
    post(`/application/${applicationId}/deploy`, body, `null ${environmentId}`.replace(' ', '-'))
  const first = await deploy('null')
  assert.equal(first.status, 202, first.text)
  for (const body of [undefined, {}, 'null']) {
    const again = await deploy(body)
    assert.deepEqual([idOf(again), again.headers['idempotency-replayed']], [idOf(first), 'true'])
  }
  assert.equal((await deploy({ git_commit_id: 'a'.repeat(40) })).status, 409)
  assert.equal((await deploy('{"broken')).status, 400)
})

test('a key replays the reply of an operation without a body whichever empty body is sent', async () => {
  const { environmentId } = await platform.addObjects(a)
  const deploy = (body: unknown) => post(`/environment/${environmentId}/deploy`, body, `deploy-${environmentId}`)
  const first = await deploy('null')
  assert.equal(first.status, 202, first.text)
  for (const body of [undefined, '{}', 'null'])
    assert.equal((await deploy(body)).headers['idempotency-replayed'], 'true')
})

test('If-Match is compared when the body is null', async () => {
  const { environmentId } = await platform.addObjects(a)
  const path = `/environment/${environmentId}`
  const current = etag(await get(path))
  assert.equal((await put(path, { name: `changed ${environmentId}` }, { 'if-match': current })).status, 200)
  assert.equal((await put(path, 'null', { 'if-match': current })).status, 412)
  assert.equal((await put(path, 'null', { 'if-match': etag(await get(path)) })).status, 200)
  assert.equal((await put(path, 'null', { 'if-match': 'no tag' })).status, 400)
})
