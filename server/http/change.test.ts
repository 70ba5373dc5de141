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

test('a write that fails after its statements leaves nothing, no row of the record either', async () => {
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

test('accepting a deployment writes its row in the statement that accepts it', async () => {
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

test('a changed object is recorded as it was and as it is', async () => {
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

test('the token of a new API token is not recorded, and sealed where its reply is kept', async () => {
  const path = `/organization/${a.organizationId}/apiToken`
  const answer = await post(path, { name: 'kept', scope: 'READ' }, newId())
  const { token } = Object(answer.body)
  assert.ok(token.length > 20)
  const [row] = await rowsOf(answer)
  assert.ok(!JSON.stringify(row).includes(token))
  const kept = await database`select k::text as text from kept_reply k`
  assert.ok(!kept.some(({ text }) => text.includes(token)))
})

test('a POST with the same key happens once and is answered the same, by the caller alone', async () => {
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

test('several at once with the same key happen once', async () => {
  const key = newId()
  const answers = await Promise.all(Array.from({ length: 5 }, () => post(projects, { name: `at once ${key}` }, key)))
  assert.deepEqual(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, 1)
  assert.equal(answers.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1)
})

test('what failed is tried again; a key of a deployment works, too; a bad key is refused', async () => {
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
    assert.match(Object((await post(projects, { name: 'x' }, bad)).body).message, /^Idempotency-Key must be/, bad)
  }
})

test('an object carries an ETag, which changes with it; who has it gets 304', async () => {
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

test('of two changes with the same If-Match one is made; without it the last one wins', async () => {
  const { projectId } = await platform.addObjects(a)
  const path = `/project/${projectId}`
  const tag = etag(await get(path))
  const answers = await Promise.all(
    ['x', 'y', 'z'].map((name) => put(path, { name: `${name} ${projectId}` }, { 'if-match': tag })),
  )
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 412, 412])
  const refused = answers.find(({ status }) => status === 412)
  assert.match(Object(refused?.body).message, /^If-Match: it was changed since it was read. Read it again/)
  assert.equal((await put(path, { name: `w ${projectId}` })).status, 200)
  assert.equal((await put(path, { name: `v ${projectId}` }, { 'if-match': '*' })).status, 200)
  const remove = (tags: string) =>
    call(a.tokens.ADMIN, 'DELETE', `/organization/${a.organizationId}/webhook/${a.objects.webhookId}`, undefined, {
      'if-match': tags,
    })
  assert.equal((await remove(tag)).status, 412)
  const hook = await get(`/organization/${a.organizationId}/webhook/${a.objects.webhookId}`)
  assert.equal((await remove(etag(hook))).status, 204)
  assert.equal((await remove('*')).status, 404)
})

test('If-Match is refused where nothing answers an ETag, and where it is none', async () => {
  const { projectId } = a.objects
  const secrets = `/project/${projectId}/secret/${a.objects.secrets.project}`
  const nothing = await put(secrets, { key: 'K', value: 'v' }, { 'if-match': '"x"' })
  assert.equal(nothing.status, 400)
  assert.match(Object(nothing.body).message, /^If-Match: nothing answers/)
  assert.equal((await put(`/project/${projectId}`, { name: 'x' }, { 'if-match': 'x' })).status, 400)
  const canary = await database`select e::text as text from audit_event e`
  assert.ok(!canary.some(({ text }) => text.includes(canaryOf(a))))
})

test('an absent body, null and {} are one request for a key, and another body is another one', async () => {
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

test('an operation without a body replays whatever of those came with the key', async () => {
  const { environmentId } = await platform.addObjects(a)
  const deploy = (body: unknown) => post(`/environment/${environmentId}/deploy`, body, `deploy-${environmentId}`)
  const first = await deploy('null')
  assert.equal(first.status, 202, first.text)
  for (const body of [undefined, '{}', 'null'])
    assert.equal((await deploy(body)).headers['idempotency-replayed'], 'true')
})

test('a body of null with If-Match is compared like any other change', async () => {
  const { environmentId } = await platform.addObjects(a)
  const path = `/environment/${environmentId}`
  const current = etag(await get(path))
  assert.equal((await put(path, { name: `changed ${environmentId}` }, { 'if-match': current })).status, 200)
  assert.equal((await put(path, 'null', { 'if-match': current })).status, 412)
  assert.equal((await put(path, 'null', { 'if-match': etag(await get(path)) })).status, 200)
  assert.equal((await put(path, 'null', { 'if-match': 'no tag' })).status, 400)
})
