import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { Ajv } from 'ajv'
import { eventData, eventStream } from '../../contract/event-stream.ts'
import type { Permission } from '../../contract/operation.ts'
import { type Stream, streamPaths, streams } from '../../contract/streams.ts'
import { fakeWorkload } from '../../server/engines/fake/fake-workload.ts'
import { isDateTime } from '../../server/http/validate.ts'
import { silent } from '../../server/lib/attempt.ts'
import { newId, parseId } from '../../server/lib/id.ts'
import { createPlatform } from '../support/platform.ts'
import { rawRequest, sendRaw } from '../support/raw.ts'
import { eventOf, openEvents, openSocket, type SocketOptions } from '../support/streams.ts'
import { until } from '../support/until.ts'
import { type Place, placeOf, queryOf, requiredOf } from './stream-queries.ts'

/** Every stream of the contract: who may connect, with which query, and which messages it sends. */
const platform = await createPlatform(
  { after },
  {
    settings: {
      QUAYSIDE_CORS_ORIGINS: 'https://console.example.org',
      QUAYSIDE_STREAMS_PER_CALLER: '1000',
      QUAYSIDE_STREAMS_PER_ORGANIZATION: '1000',
    },
  },
)
const { a, b, engine, database, rooms } = platform
const { lines } = rooms
const origin = await platform.listen()

const [ofA, ofB] = [placeOf(a), placeOf(b)]
const notFound = /^The (?:organization|project|environment|service|cluster) [0-9a-f-]{36} does not exist\.$/
/** Replaces the id of the request by its place in it. */
const withoutId = (text: string, asked: Place): string =>
  Object.entries(asked).reduce((shown, [name, id]) => shown.replaceAll(String(id), name), text)

const connect = (path: string, query: string, options: SocketOptions = { token: a.tokens.ADMIN }) =>
  openSocket(origin, `${path}${query}`, options)

const ajv = new Ajv({ strict: false })
ajv.addFormat('uuid', (text) => parseId(text) !== undefined)
ajv.addFormat('date-time', isDateTime)

const service = ofA.service
await engine.start(
  { id: newId(), service, environment: ofA.environment, displayName: 'app', workload: fakeWorkload('web') },
  { signal: AbortSignal.timeout(60_000), output: silent },
)
const ended = {
  ...{ name: 'one', running: true, image: 'app@sha256:1', exits: 1, exitCode: 3, outOfMemory: false },
  ...{ startedAt: '2026-01-01T00:00:00.000Z', finishedAt: '2026-01-01T00:00:05.000Z' },
}
await database`
  insert into observation (service_id, state, replicas, observed_at)
  values (${service}, 'running', ${database.json([ended])}, now())`
const requestId = newId()
await database`insert into workflow (id, kind, key, input) values (${requestId}, 'test', ${ofA.environment}, '{}')`
await database`
  insert into deployment_request (id, environment_id, execution_id, action, origin, triggered_by, caller,
  created_at, updated_at)
  values (${requestId}, ${ofA.environment}, ${`${ofA.environment}-1`}, 'DEPLOY', 'API', 'test', 'test', now(), now())`
await lines.append(`service/${service}`, [
  { at: '2026-01-01T00:00:00.000Z', replica: 'one', release: 'r1', stream: 'stdout', text: 'up' },
])
await lines.append(`deployment/${ofA.environment}-1`, [{ level: 'info', step: 'Build', text: 'building' }])

const enough: Record<Stream['access'], Permission> = { read: 'READ', deploy: 'DEPLOY', write: 'WRITE', admin: 'ADMIN' }

for (const path of streamPaths) {
  const stream: Stream = streams[path]
  const good = queryOf(stream, ofA)

  test(`${path}: no upgrade without a valid token`, async () => {
    const tokens = [undefined, 'garbage', a.tokens.expired, a.tokens.revoked]
    for (const token of tokens)
      assert.equal((await connect(path, good, { token, origin: 'https://console.example.org' }).ended).status, 401)
    assert.equal(
      (await connect(path, `${good}&token=${a.tokens.ADMIN}`, { origin: 'https://console.example.org' }).ended).status,
      401,
    )
  })

  test(`${path}: no upgrade for pages of other origins`, async () => {
    for (const foreign of ['https://evil.example', 'null', 'http://console.example.org']) {
      assert.equal((await connect(path, good, { token: a.tokens.ADMIN, origin: foreign }).ended).status, 403)
    }
    const protocols = ['v1', `auth.bearer.${a.tokens.ADMIN}`]
    assert.equal((await connect(path, good, { protocols }).ended).status, 403)
  })

  test(`${path}: closed with 1007 where a parameter is missing, doubled or no id`, async () => {
    for (const name of requiredOf(stream)) {
      const { code, reason } = await connect(path, queryOf(stream, ofA, { [name]: undefined })).ended
      assert.deepEqual([code, reason], [1007, `${name} is required.`])
    }
    assert.equal((await connect(path, `${good}&organization=${ofA.organization}`).ended).code, 1007)
    const nonsense = await connect(path, queryOf(stream, ofA, { organization: "' or 1=1" })).ended
    assert.deepEqual([nonsense.code, nonsense.reason], [1007, 'organization must be a valid uuid.'])
  })

  test(`${path}: closed with 1008 where what is named is somebody else's, unknown, or does not belong together`, async () => {
    const foreign = await connect(path, queryOf(stream, ofB)).ended
    const unknown = { ...ofA, service: newId(), environment: newId(), project: newId(), cluster: newId() }
    const absent = await connect(path, queryOf(stream, unknown)).ended
    assert.equal(foreign.code, 1008)
    assert.match(foreign.reason, notFound)
    assert.deepEqual([absent.code, withoutId(absent.reason, unknown)], [foreign.code, withoutId(foreign.reason, ofB)])
    for (const name of Object.keys(ofA) as (keyof Place)[]) {
      if (!new URLSearchParams(good).has(name)) continue
      const mixed = await connect(path, queryOf(stream, { ...ofA, [name]: ofB[name] })).ended
      assert.equal(mixed.code, 1008, name)
      assert.match(mixed.reason, notFound, name)
    }
  })

  const lacking = stream.access === 'read' ? [] : (['READ', 'DEPLOY'] as const)
  for (const permission of lacking) {
    test(`${path}: closed with 1008 for a token with ${permission} alone`, async () => {
      const { code, reason } = await connect(path, good, { token: a.tokens[permission] }).ended
      assert.deepEqual([code, /needs the permission (WRITE|ADMIN)/.test(reason)], [1008, true])
    })
  }

  if (stream.refuses !== undefined) {
    test(`${path}: closed with 1008 and the reason because it is not supported`, async () => {
      const { code, reason } = await connect(path, good).ended
      assert.deepEqual([code, stream.refuses?.startsWith(reason.slice(0, 100))], [1008, true])
    })
  } else {
    test(`${path}: a browser with the token in a subprotocol gets the messages of the contract`, async () => {
      const protocols = ['v1', `auth.bearer.${a.tokens[enough[stream.access]]}`]
      const client = connect(path, good, { protocols, origin: 'https://console.example.org' })
      if (stream.message === undefined) {
        if (path === '/shell/portforward')
          client.socket.once('open', () => client.socket.send(Buffer.from('GET / HTTP/1.1\r\n\r\n')))
        await until('bytes', () => client.bytes() !== '')
      } else {
        const [message] = await until('a message', () => client.messages.length > 0 && client.messages)
        const validate = ajv.compile(closed(stream.message))
        assert.ok(validate(message), `${ajv.errorsText(validate.errors)}: ${JSON.stringify(message)}`)
      }
      assert.equal(client.socket.protocol, 'v1')
      client.socket.close()
      await client.ended
    })
  }
}

/** Returns the same schema without members that it does not name. */
function closed<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return { ...inner, ...('properties' in schema ? { additionalProperties: false } : {}) } as T
}

test('other paths have no stream, and upgrades to other protocols are ignored', async () => {
  assert.equal((await connect('/service/nothing', '').ended).status, 404)
  const asked = rawRequest('GET /health/live', [
    'Connection: Upgrade, HTTP2-Settings',
    'Upgrade: h2c',
    'HTTP2-Settings: AAMAAABk',
  ])
  assert.deepEqual((await sendRaw(origin, asked, { answers: 1 })).statuses, [200])
})

/** Waits for the expected last message and returns it. */
const lastOf = (client: ReturnType<typeof connect>, isIt: (text: string) => boolean) =>
  until(
    'the message',
    () => {
      const text = JSON.stringify(client.messages.at(-1) ?? '')
      return isIt(text) && text
    },
    { seen: () => client.messages.at(-1) },
  )

test('/service/logs sends the lines that match the query: the last ones, then new ones', async () => {
  const stream = `service/${service}` as const
  const line = (text: string, replica = 'one') => ({
    at: '2026-02-01T00:00:00.000Z',
    replica,
    release: 'r1',
    stream: 'stdout',
    text,
  })
  await lines.append(stream, [line('a needle'), line('hay'), line('Needle two'), line('needle of another', 'two')])
  const query = queryOf(streams['/service/logs'], ofA, { query: 'needle', pod_name: 'one', limit: '1' })
  const client = connect('/service/logs', query)
  await until('the previous line', () => client.messages.length === 1)
  await lines.append(stream, [line('hay'), line('needle three')])
  await lastOf(client, (text) => text.includes('needle three'))
  assert.equal(client.messages.length, 2)
  assert.match(JSON.stringify(client.messages[0]), /Needle two/)
  client.socket.close()
})

test('/service/logs ends after the last lines up to a moment', async () => {
  const line = (minute: number) => ({
    at: `2026-03-01T00:0${minute}:00.000Z`,
    replica: 'one',
    release: 'r1',
    stream: 'stdout',
    text: `minute ${minute}`,
  })
  await lines.append(`service/${service}`, [line(1), line(2), line(3)])
  const ask = (change: Record<string, string>) =>
    connect('/service/logs', queryOf(streams['/service/logs'], ofA, change))
  const client = ask({ end: '2026-03-01T00:02:00Z', limit: '2' })
  const { code } = await client.ended
  assert.deepEqual([code, client.messages.map((message) => Object(message).message)], [1000, ['minute 1', 'minute 2']])
  const together = ask({ end: '2026-03-01T00:03:00Z', limit: '3', batch: '2' })
  assert.equal((await together.ended).code, 1000)
  assert.deepEqual(
    together.messages.map((list) => Array.isArray(list) && list.map(({ message }) => message)),
    [['minute 1', 'minute 2'], ['minute 3']],
  )
  const { code: refused, reason } = await ask({ end: 'tomorrow' }).ended
  assert.deepEqual([refused, reason], [1007, 'end must be a date and time, or a count since 1970.'])
})

test('/service/status, /service/pods and /deployment/status send changes', async () => {
  const wide = queryOf(streams['/service/status'], ofA, { environment: undefined })
  const [running, pods, deployment, project] = [
    connect('/service/status', wide),
    connect('/service/pods', queryOf(streams['/service/pods'], ofA)),
    connect('/deployment/status', queryOf(streams['/deployment/status'], ofA)),
    connect('/deployment/status', queryOf(streams['/deployment/status'], ofA, { environment: undefined })),
  ]
  for (const client of [running, pods, deployment, project])
    await until('the first message', () => client.messages.length === 1)
  const replicas = database.json(
    ['one', 'two'].map((name) => ({ name, running: true, image: 'app@sha256:1', exits: 4, outOfMemory: false })),
  )
  await database`update observation set state = 'failing', replicas = ${replicas}, reason = 'exits'
    where service_id = ${service}`
  const seen = JSON.parse(await lastOf(running, (text) => text.includes('"ERROR"')))
  assert.deepEqual(
    seen.environments.map(({ id, state }: { id: string; state: string }) => [id, state]),
    [[ofA.environment, 'WARNING']],
  )
  await lastOf(pods, (text) => text.includes('"two"'))
  await database`update service set state = 'BUILDING' where id = ${service}`
  for (const client of [deployment, project]) await lastOf(client, (text) => text.includes('"BUILDING"'))
  for (const client of [running, pods, deployment, project]) client.socket.close()
})

test('a run of a job is reported by /service/status and /service/pods, and its lines by /service/logs under its id', async () => {
  const job = a.objects.more['jobId'] ?? ''
  const ofJob = { ...ofA, service: job }
  await database`update service set state = 'DEPLOYED' where id = ${job}`
  const query = (path: '/service/pods' | '/service/logs', change = {}) => queryOf(streams[path], ofJob, change)
  const [status, pods] = [
    connect('/service/status', queryOf(streams['/service/status'], ofA)),
    connect('/service/pods', query('/service/pods')),
  ]
  for (const client of [status, pods]) await until('the first message', () => client.messages.length === 1)
  const run = newId()
  await database`
    insert into job_run (id, service_id, release_id, "trigger", event, created_at, updated_at)
    values (${run}, ${job}, ${newId()}, 'CRON', 'CRON', now(), now())`
  await database`update job_run set status = 'RUNNING' where id = ${run}`
  await lastOf(pods, (text) => text.includes(run))
  const stateOf = (text: string) =>
    JSON.parse(text).environments[0].jobs.find(({ id }: { id: string }) => id === job).state
  await lastOf(status, (text) => text.includes(run) && stateOf(text) === 'RUNNING')
  await database`
    update job_run set status = 'SUCCESS', exit_code = 0, tries = 1, started_at = now(), finished_at = now()
    where id = ${run}`
  await lastOf(pods, (text) => !text.includes(run))
  const last = JSON.parse(await lastOf(status, (text) => stateOf(text) === 'COMPLETED'))
  const validate = ajv.compile(closed(streams['/service/status'].message))
  assert.ok(validate(last), ajv.errorsText(validate.errors))
  const line = (replica: string, text: string) => ({
    at: '2026-04-01T00:00:00.000Z',
    replica,
    release: 'r',
    stream: 'stdout',
    text,
  })
  await lines.append(`service/${job}`, [
    line(`quay-run-${newId()}-1`, 'another run'),
    line(`quay-run-${run}-1`, 'this run'),
  ])
  const logs = connect('/service/logs', query('/service/logs', { pod_name: run }))
  await until('the line', () => logs.messages.length > 0)
  assert.deepEqual(
    logs.messages.map((message) => Object(message).message),
    ['this run'],
  )
  for (const client of [status, pods, logs]) client.socket.close()
})

test('/deployment/logs continues with the next deployment, unless one is named', async () => {
  const { environment } = ofA
  const query = (version?: string) => queryOf(streams['/deployment/logs'], ofA, { version })
  const [any, first] = [connect('/deployment/logs', query()), connect('/deployment/logs', query(`${environment}-1`))]
  for (const client of [any, first]) await lastOf(client, (text) => text.includes('building'))
  const id = newId()
  await database`update deployment_request set status = 'SUCCESS' where environment_id = ${environment}`
  await database`insert into workflow (id, kind, key, input) values (${id}, 'test', ${environment}, '{}')`
  await database`
    insert into deployment_request (id, environment_id, execution_id, action, origin, triggered_by, caller,
    created_at, updated_at)
    values (${id}, ${environment}, ${`${environment}-2`}, 'DEPLOY', 'API', 'test', 'test', now(), now())`
  await lines.append(`deployment/${environment}-2`, [{ level: 'info', step: 'Build', text: 'once more' }])
  await lines.append(`deployment/${environment}-1`, [{ level: 'info', step: 'Built', text: 'late' }])
  await lastOf(any, (text) => text.includes('once more') && text.includes(`${environment}-2`))
  await lastOf(first, (text) => text.includes('late'))
  for (const client of [any, first]) client.socket.close()
  const unknown = await connect('/deployment/logs', query('nothing')).ended
  assert.deepEqual([unknown.code, unknown.reason], [1007, 'version: the environment has no execution nothing.'])
})

test('/deployment/status reports the named execution, or that it does not exist', async () => {
  const { environment } = ofA
  const query = (change: Record<string, string | undefined>) => queryOf(streams['/deployment/status'], ofA, change)
  const [first, last] = [
    connect('/deployment/status', query({ version: `${environment}-1` })),
    connect('/deployment/status', query({})),
  ]
  for (const client of [first, last]) await until('a message', () => client.messages.length > 0)
  const executionOf = ({ messages }: typeof first) => Object(messages[0]).environment.last_deployment_id
  assert.deepEqual([executionOf(first), executionOf(last)], [`${environment}-1`, `${environment}-2`])
  const validate = ajv.compile(closed(streams['/deployment/status'].message))
  assert.ok(validate(first.messages[0]), ajv.errorsText(validate.errors))
  for (const client of [first, last]) client.socket.close()
  const unknown = await connect('/deployment/status', query({ version: 'nothing' })).ended
  assert.deepEqual([unknown.code, unknown.reason], [1007, 'version: the environment has no execution nothing.'])
  const ofProject = await connect('/deployment/status', query({ version: `${environment}-1`, environment: undefined }))
    .ended
  assert.deepEqual([ofProject.code, ofProject.reason], [1007, 'version: send its environment too.'])
})

test('events match the document, and stream paths answer 404 without a WebSocket', async () => {
  const events = await openEvents(origin, eventStream.path.replace('{organizationId}', ofA.organization), {
    authorization: `Bearer ${a.tokens.READ}`,
  })
  assert.deepEqual([events.status, events.headers['content-type']?.split(';')[0]], [200, eventStream.contentType])
  await database`update service set state = 'DEPLOYED' where id = ${service}`
  await database`update deployment_request set status = 'ERROR' where environment_id = ${ofA.environment}`
  await eventOf(events, 'deployment.status')
  const known: Readonly<Record<string, object>> = eventData
  for (const { event = '', data = '' } of events.events) {
    assert.ok(ajv.validate(closed(known[event] ?? false), JSON.parse(data)), `${event}: ${ajv.errorsText()} ${data}`)
  }
  events.close()
  for (const path of streamPaths) assert.equal((await platform.call(a.tokens.READ, 'GET', path)).status, 404, path)
})

test('/service/logs finds the lines of a deployment by its execution, its request and its release', async () => {
  const stream = `service/${service}` as const
  const { environment } = ofA
  const [request, kept, released, again, late] = [newId(), newId(), newId(), newId(), newId()]
  const line = (release: string, text: string) => ({
    at: '2026-03-01T00:00:00.000Z',
    replica: 'one',
    release,
    stream: 'stdout',
    text,
  })
  const addRelease = (id: string, requestOf: string, copyOf: string | null) => database`
    insert into release (id, service_id, request_id, created_at, config_version, settings, variables, copy_of)
    values (${id}, ${service}, ${requestOf}, now(), 1, '{}', '{}', ${copyOf})`
  const addRequest = async (id: string, execution: string, release: string | null) => {
    await database`insert into workflow (id, kind, key, input) values (${id}, 'test', ${environment}, '{}')`
    await database`
      insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by,
      caller, created_at, updated_at)
      values (${id}, ${environment}, ${execution}, 'DEPLOY', 'SUCCESS', 'API', 'test', 'test', now(), now())`
    await database`
      insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      former_state, release_id)
      values (${id}, ${service}, 'application', 'app', '', 'default', 1, 'DEPLOYED', 'READY', ${release})`
  }
  const [restart, coming] = [newId(), newId()]
  await addRelease(released, request, null)
  await addRelease(again, restart, released)
  await addRequest(request, 'logs-1', released)
  await addRequest(restart, 'logs-2', again)
  await addRequest(kept, 'logs-3', again)
  await addRequest(coming, 'logs-4', null)
  await lines.append(stream, [
    line('other', 'of another'),
    line(released, 'of the first'),
    line(again, 'of the restart'),
  ])
  const wanted: [id: string, before: string[], after: string[]][] = [
    [released, ['of the first'], ['at last']],
    ['logs-1', ['of the first'], ['at last']],
    [request, ['of the first', 'of the restart'], ['at last']],
    ['logs-2', ['of the restart'], []],
    [kept, ['of the restart'], []],
    ['logs-4', [], ['of the next']],
  ]
  const clients = wanted.map(([id, before, after]) => {
    const client = connect('/service/logs', queryOf(streams['/service/logs'], ofA, { deployment_id: id }))
    const told = () => client.messages.map((message) => Object(message).message)
    return { id, before, all: [...before, ...after], told, close: () => client.socket.close() }
  })
  for (const { id, before, told } of clients)
    await until(`lines of ${id}`, () => told().length >= before.length, { seen: told })
  // A version that is created while a client waits for its lines.
  await addRelease(late, coming, null)
  await lines.append(stream, [line('other', 'of another'), line(late, 'of the next'), line(released, 'at last')])
  for (const { id, all, told, close } of clients) {
    await until(`further lines of ${id}`, () => told().length >= all.length, { seen: told })
    assert.deepEqual(told(), all, id)
    close()
  }
})

const shellOf = (more: Record<string, string>): string => queryOf(streams['/shell/exec'], ofA, more)

test('/shell/portforward: closed with 1011 and a reason when nobody listens on the port', async () => {
  const query = queryOf(streams['/shell/portforward'], ofA, { port: '9' })
  const { code, reason } = await connect('/shell/portforward', query).ended
  assert.deepEqual([code, /port 9 of the replica/.test(reason)], [1011, true])
})

test('the answer to an upgrade names the request, also when it is rejected', async () => {
  const client = connect('/shell/exec', shellOf({}))
  await until('it is open', () => client.requestId())
  const known = client.requestId() ?? ''
  assert.match(known, /^[0-9a-f-]{36}$/)
  const written = () => database`select from audit_event where request_id = ${known}`
  await until('the record of the shell', async () => (await written()).length === 1)
  client.socket.close()
  await client.ended
  const refused = connect('/shell/exec', '', { token: 'garbage' })
  assert.equal((await refused.ended).status, 401)
  assert.match(refused.requestId() ?? '', /^[0-9a-f-]{36}$/)
})

test('/shell/exec: a command has no terminal without a size, and the close names the exit code', async () => {
  const client = connect('/shell/exec', shellOf({ tty_width: '0', tty_height: '0' }))
  client.socket.once('open', () => client.socket.send(Buffer.from('a\n')))
  await until('its bytes', () => client.bytes() === 'a\n')
  client.socket.send(Buffer.from([4]))
  assert.deepEqual(await client.ended, { code: 1000, reason: 'The command ended with exit code 3.', status: undefined })
  const half = await connect('/shell/exec', shellOf({ tty_width: '0', tty_height: '24' })).ended
  assert.deepEqual([half.code, /must both be 0/.test(half.reason)], [1007, true])
})
