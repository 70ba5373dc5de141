import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, test } from 'node:test'
import { fakeWorkload } from '../../server/engines/fake/fake-workload.ts'
import { silent } from '../../server/lib/attempt.ts'
import { newId } from '../../server/lib/id.ts'
import { tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'
import { eventOf, openEvents, openSocket } from '../support/streams.ts'
import { now, until } from '../support/until.ts'

const platform = await createPlatform(
  { after },
  { settings: { QUAYSIDE_STREAMS_PER_CALLER: '5', QUAYSIDE_STREAMS_PER_ORGANIZATION: '8' } },
)
const { a, b, database, engine, rooms } = platform
const origin = await platform.listen()
const maker = { name: 'test', permissions: ['ADMIN' as const] }
const mint = async (scope: 'READ' | 'WRITE' | 'ADMIN' = 'READ') =>
  rooms.apiTokens.create(a.organizationId, maker, { name: newId(), scope })

const path = `/organization/${a.organizationId}/stream`
const follow = (token: string, headers: Record<string, string> = {}) =>
  openEvents(origin, path, { authorization: `Bearer ${token}`, ...headers })
const service = a.objects.applicationId
const setState = (state: string, id = service) => database`update service set state = ${state} where id = ${id}`
const named = (tenant: typeof a) =>
  new URLSearchParams({
    organization: tenant.organizationId,
    cluster: tenant.clusterId,
    project: tenant.objects.projectId,
    environment: tenant.objects.environmentId,
    service: tenant.objects.applicationId,
  })
const shellQuery = (more: Record<string, string> = {}): string =>
  `/shell/exec?${named(a)}&${new URLSearchParams({ tty_width: '80', tty_height: '24', ...more })}`

await engine.start(
  { id: newId(), service, environment: a.objects.environmentId, displayName: 'app', workload: fakeWorkload('web') },
  { signal: AbortSignal.timeout(60_000), output: silent },
)

test('L4: events need a token in the header, not in the address', async () => {
  assert.equal((await openEvents(origin, path)).status, 401)
  assert.equal((await openEvents(origin, `${path}?token=${a.tokens.ADMIN}`)).status, 401)
  assert.equal((await openEvents(origin, path, { authorization: `Bearer ${b.tokens.ADMIN}` })).status, 404)
})

test('D15, L3: a client gets only events of its own organization, and no name can forge an event', async () => {
  const { token } = await mint()
  const client = await follow(token)
  await eventOf(client, 'ready')
  await setState('BUILDING', b.objects.applicationId)
  const forged = 'x\n\nevent: admin\ndata: {}\n\n'
  await database`
    insert into state_change (organization_id, project_id, mode, type, data)
    values (${a.organizationId}, ${a.objects.projectId}, 'DEVELOPMENT', 'service.created',
    ${database.json({ name: forged })})`
  await setState('BUILDING')
  await eventOf(client, 'service.state')
  assert.deepEqual(
    client.events.map(({ event }) => event),
    ['ready', 'service.created', 'service.state'],
  )
  assert.equal(JSON.parse(client.events[1]?.data ?? '').name, forged)
  client.close()
})

test('a change of a record is reported to people who may read it, without any value of it', async () => {
  const { organizationId, objects } = a
  const role = await rooms.customRoles.create(organizationId, { name: newId() })
  const nowhere = await follow(await tokenWithRole(platform, organizationId, role.id))
  const reader = await follow((await mint()).token)
  await Promise.all([eventOf(nowhere, 'ready'), eventOf(reader, 'ready')])
  const variable = (scope: string, variable_parent_id: string) =>
    platform.call(a.tokens.ADMIN, 'POST', '/variable', {
      ...{ key: `KEY_${scope}`, value: 'swordfish', is_secret: false, variable_scope: scope, variable_parent_id },
    })
  for (const answer of [
    await variable('PROJECT', objects.projectId),
    await variable('ENVIRONMENT', objects.environmentId),
    await variable('APPLICATION', objects.applicationId),
    await platform.call(a.tokens.ADMIN, 'PUT', `/organization/${organizationId}`, { name: 'a', plan: 'FREE' }),
  ]) {
    assert.ok(answer.status < 300, answer.text)
  }
  await Promise.all([eventOf(nowhere, 'organization.changed'), eventOf(reader, 'organization.changed')])
  assert.deepEqual(
    nowhere.events.map(({ event }) => event),
    ['ready', 'organization.changed'],
  )
  assert.deepEqual(
    reader.events.map(({ event }) => event),
    ['ready', 'project.changed', 'environment.changed', 'service.changed', 'organization.changed'],
  )
  assert.doesNotMatch(reader.text(), /swordfish|KEY_/)
  nowhere.close()
  reader.close()
})

test('a client that reconnects gets the missed events once and in order', async () => {
  const { token } = await mint()
  const first = await follow(token)
  const { id } = await eventOf(first, 'ready')
  first.close()
  for (const state of ['DEPLOYING', 'DEPLOYED', 'STOPPING']) await setState(state)
  const second = await follow(token, { 'last-event-id': id ?? '' })
  await setState('STOPPED')
  await until('all four', () => second.events.filter(({ event }) => event === 'service.state').length === 4)
  const told = second.events.filter(({ event }) => event === 'service.state')
  assert.deepEqual(
    told.map(({ data }) => JSON.parse(data ?? '').state),
    ['DEPLOYING', 'DEPLOYED', 'STOPPING', 'STOPPED'],
  )
  const ids = told.map((event) => Number(event.id))
  assert.deepEqual(
    ids,
    ids.toSorted((one, other) => one - other),
  )
  second.close()
})

test('a client with an unknown or too old event id must read everything again', async () => {
  const { token } = await mint()
  for (const id of ['999999999', 'abc', '-1', '1'.repeat(40)]) {
    const client = await follow(token, { 'last-event-id': id })
    const { data } = await eventOf(client, 'reset')
    assert.match(JSON.parse(data ?? '').reason, /read everything again/)
    assert.match(client.text(), /^retry: \d+\n\n/)
    client.close()
  }
})

test('L6: a revoked or expired token loses its open streams within five seconds', async () => {
  const [revoked, expired] = await Promise.all([mint('WRITE'), mint('WRITE')])
  const events = await follow(revoked.token)
  const logs = openSocket(origin, `/service/logs?${named(a)}`, { token: revoked.token })
  const shell = openSocket(origin, shellQuery(), { token: expired.token })
  await eventOf(events, 'ready')
  await until('the shell', () => shell.bytes().includes('size 80x24'))
  const began = now()
  await rooms.apiTokens.remove(a.organizationId, revoked.id)
  await database`update api_token set expires_at = now() where id = ${expired.id}`
  await eventOf(events, 'end')
  await until('the end of the events', () => events.isOver())
  assert.ok(events.isWhole(), 'the events have no regular end')
  for (const { ended } of [logs, shell]) {
    const { code, reason } = await ended
    assert.deepEqual([code, /expired or revoked/.test(reason)], [1008, true])
  }
  assert.ok(now() - began < 5_000, `${now() - began} ms`)
})

test('L6, L10: the deletion of an object ends its streams', async () => {
  const { token } = await mint()
  const { applicationId } = await platform.addObjects(a)
  const [row] = await database<{ environment_id: string; project_id: string }[]>`
    select s.environment_id, e.project_id from service s join environment e on e.id = s.environment_id
    where s.id = ${applicationId}`
  const query = named(a)
  query.set('service', applicationId)
  query.set('environment', row?.environment_id ?? '')
  query.set('project', row?.project_id ?? '')
  const client = openSocket(origin, `/service/logs?${query}`, { token })
  await new Promise((resolve) => client.socket.once('open', resolve))
  const began = now()
  await database`delete from service where id = ${applicationId}`
  assert.deepEqual((await client.ended).code, 1008)
  assert.ok(now() - began < 5_000, `${now() - began} ms`)
})

test('L8: a token gets 429 beyond its streams until one is closed', async () => {
  const { token } = await mint()
  const clients = await Promise.all(Array.from({ length: 5 }, () => follow(token)))
  const { status: refused, headers } = await follow(token)
  assert.deepEqual([refused, headers['retry-after']], [429, '1'])
  const socket = openSocket(origin, `/cluster/nodes?${named(a)}`, { token })
  assert.equal((await socket.ended).status, 429)
  assert.equal(socket.retryAfter(), '1')
  clients[0]?.close()
  const again = await until('a place', async () => {
    const client = await follow(token)
    return client.status === 200 && client
  })
  // The organization may have a few more streams over all its tokens.
  const { token: second } = await mint()
  const more = await Promise.all(Array.from({ length: 5 }, () => follow(second)))
  assert.deepEqual(more.map(({ status }) => status).toSorted(), [200, 200, 200, 429, 429])
  for (const client of [...clients, again, ...more]) client.close()
})

test('L7: a client that does not read is cut off, and the server holds little memory for it', async () => {
  const { token } = await mint()
  const { hostname, port } = new URL(origin)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {})
  socket.pause()
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  let isClosed = false
  socket.once('close', () => {
    isClosed = true
  })
  // All slots of the token are taken. A free slot means that the server has dropped the first
  // client.
  const others = Array.from({ length: 4 }, () => openSocket(origin, `/cluster/nodes?${named(a)}`, { token }))
  await Promise.all(others.map(({ socket: other }) => once(other, 'open')))
  const hasPlace = async (): Promise<boolean> => {
    const client = await follow(token)
    client.close()
    return client.status === 200
  }
  await until('the first client has its slot', async () => !(await hasPlace()))
  // Some megabytes: more than the kernel buffers for a client that does not read.
  for (let round = 0; round < 40; round++) {
    await database`
      insert into state_change (organization_id, project_id, mode, type, data)
      select ${a.organizationId}, ${a.objects.projectId}, 'DEVELOPMENT', 'service.state',
        jsonb_build_object('state', repeat('x', 1000)) from generate_series(1, 250)`
  }
  await until('the server has dropped it', hasPlace)
  // First comes what the kernel has buffered, then the end.
  socket.resume()
  await until('the end', () => isClosed)
  for (const { socket: other } of others) other.close()
})

test('L9, L11: names and commands reach the engine unchanged or not at all', async () => {
  const { token } = await mint('WRITE')
  for (const name of ['$(id)', '*', '../x', 'a b', '-x']) {
    const { code } = await openSocket(origin, shellQuery({ pod_name: name }), { token }).ended
    assert.equal(code, 1007, name)
  }
  const stranger = await openSocket(origin, shellQuery({ pod_name: 'somebody-else' }), { token }).ended
  assert.equal(stranger.code, 1008)
  engine.shells.length = 0
  const client = openSocket(
    origin,
    `${shellQuery()}&command[0]=sh&command[1]=-c&command[2]=${encodeURIComponent('$(id); *')}`,
    { token },
  )
  await until('the shell', () => client.bytes().includes('size 80x24'))
  assert.deepEqual(
    engine.shells.map(({ command }) => command),
    [['sh', '-c', '$(id); *']],
  )
  client.socket.send(Buffer.from('hello\rexit\r'))
  assert.equal((await client.ended).code, 1000)
  assert.match(client.bytes(), /said hello/)
  const rows = await database<{ change: string }[]>`
    select change from audit_event where event_type = 'SHELL' and target_id = ${service} and triggered_by <> ''`
  assert.ok(rows.length > 0 && rows.every(({ change }) => !change.includes('$(id)')))
})

test('a server that stops tells its clients to reconnect', async (t) => {
  const own = await createPlatform(t)
  const at = await own.listen()
  const token = own.a.tokens.READ
  const events = await openEvents(at, `/organization/${own.a.organizationId}/stream`, {
    authorization: `Bearer ${token}`,
  })
  const socket = openSocket(at, `/cluster/nodes?organization=${own.a.organizationId}&cluster=${own.a.clusterId}`, {
    token,
  })
  await until('both', () => socket.messages.length > 0 && events.events.length > 0)
  const began = now()
  await own.stop()
  assert.equal((await socket.ended).code, 1011)
  await until('the end of the events', () => events.isOver())
  // After a regular end clients reconnect after the pause that the stream named at its start.
  assert.ok(events.isWhole(), 'the events have no regular end')
  assert.match(events.text(), /^retry: [1-5]\d{3}$/m)
  assert.ok(now() - began < 5_000)
})
