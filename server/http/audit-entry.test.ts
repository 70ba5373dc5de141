import assert from 'node:assert/strict'
import { test } from 'node:test'
import { auditEntry, type Change } from './audit-entry.ts'

const id = (digit: number): string => `0190a000-0000-7000-8000-00000000000${digit}`
const [organization, project, environment, service, thing] = [id(1), id(2), id(3), id(4), id(5)]

const entry = (change: Partial<Omit<Change, 'call'>> & Pick<Change, 'operation'>, call: Partial<Change['call']> = {}) =>
  auditEntry({
    place: undefined,
    reply: undefined,
    former: undefined,
    requestId: 'request',
    userAgent: undefined,
    now: new Date(0),
    ...change,
    call: {
      caller: { id: 'caller', name: 'ann', organizationId: organization },
      target: undefined,
      ids: [],
      client: { origin: 'CLI' },
      ...call,
    },
  })
const target = (given: ReturnType<typeof entry>) => [
  given?.target_type,
  given?.target_id,
  given?.target_name,
  given?.sub_target_type,
]

const serviceRow = {
  id: service,
  name: 'web',
  kind: 'job',
  organization_id: organization,
  project_id: project,
  environment_id: environment,
  environment_name: 'prod',
}

test('an entry takes its target from the reply and its place from the path when an object is created', () => {
  const made = entry(
    {
      operation: { target: 'environment', kind: 'database', event: { type: 'CREATE', target: 'SERVICE' } },
      reply: { id: thing, name: 'db' },
    },
    {
      target: {
        id: environment,
        name: 'prod',
        organization_id: organization,
        project_id: project,
        project_name: 'Shop',
      },
    },
  )
  assert.deepEqual(target(made), ['DATABASE', thing, 'db', null])
  assert.deepEqual(
    [made?.project_id, made?.project_name, made?.environment_id, made?.environment_name],
    [project, 'Shop', environment, 'prod'],
  )
  const first = entry(
    {
      operation: { target: 'organization', event: { type: 'CREATE', target: 'PROJECT' } },
      reply: { id: thing, name: 'Shop' },
    },
    { target: { id: organization, name: 'Org', organization_id: organization } },
  )
  assert.deepEqual(
    [...target(first), first?.project_id, first?.project_name],
    ['PROJECT', thing, 'Shop', null, thing, 'Shop'],
  )
})

test('an entry takes its target from the path and names the changed part when an object is changed', () => {
  const operation = { target: 'service', event: { type: 'UPDATE', target: 'SERVICE', sub: 'VARIABLE' } } as const
  const changed = entry(
    { operation, reply: { id: thing, key: 'KEY' }, former: { id: thing, value: 'old' } },
    { target: serviceRow, ids: [thing] },
  )
  assert.deepEqual(target(changed), ['JOB', service, 'web', 'VARIABLE'])
  assert.deepEqual(
    [changed?.change, changed?.original_change],
    [`{"id":"${thing}","key":"KEY"}`, `{"id":"${thing}","value":"old"}`],
  )
  assert.deepEqual(
    [changed?.project_id, changed?.environment_name, changed?.origin, changed?.triggered_by],
    [project, 'prod', 'CLI', 'ann'],
  )
})

test('an entry names the previous object when it is removed', () => {
  const operation = { target: 'organization', event: { type: 'DELETE', target: 'WEBHOOK' } } as const
  const row = { id: organization, name: 'Org', organization_id: organization }
  const removed = entry({ operation, former: { id: thing, name: 'hook' } }, { target: row, ids: [thing] })
  assert.deepEqual([...target(removed), removed?.change], ['WEBHOOK', thing, 'hook', null, '{}'])
})

test('an entry names the owner of a variable when the path has only the id of the variable', () => {
  const operation = { target: 'variable', event: { type: 'DELETE', target: 'SERVICE', sub: 'VARIABLE' } } as const
  const row = {
    id: thing,
    organization_id: organization,
    project_id: project,
    environment_id: null,
    service_id: null,
    service_kind: null,
  }
  assert.deepEqual(target(entry({ operation }, { target: row })), ['PROJECT', project, '', 'VARIABLE'])
  const ofService = {
    ...row,
    environment_id: environment,
    service_id: service,
    service_kind: 'helm',
    service_name: 'chart',
  }
  assert.deepEqual(target(entry({ operation }, { target: ofService })), ['HELM', service, 'chart', 'VARIABLE'])
})

test('an entry takes its place from the body when the path has no target, and a new organization from itself', () => {
  const operation = { target: 'caller', event: { type: 'CREATE', target: 'SERVICE', sub: 'VARIABLE' } } as const
  const place = { organization: { id: organization, name: 'Org' }, project: { id: project, name: 'Shop' } }
  const elsewhere = entry({ operation, place, reply: { id: thing } })
  assert.deepEqual(
    [...target(elsewhere), elsewhere?.organization_id],
    ['PROJECT', project, 'Shop', 'VARIABLE', organization],
  )
  const founding = { target: 'caller', event: { type: 'CREATE', target: 'ORGANIZATION' } } as const
  const nobody = { caller: { id: 'caller', name: 'ann', organizationId: '' } }
  assert.equal(entry({ operation: founding, reply: { id: thing, name: 'New' } }, nobody)?.organization_id, thing)
  assert.equal(entry({ operation }, nobody), undefined)
})

test('an entry takes its target from the ids in the request when there is no reply', () => {
  const operation = {
    target: 'organization',
    event: { type: 'UPDATE', target: 'MEMBERS_AND_ROLES', sub: 'MEMBER_ROLE' },
  } as const
  const row = { id: organization, name: 'Org', organization_id: organization }
  const body = { user_id: thing, role_id: service, password: 'x', name: 'x', some_ids_in_order: [thing] }
  const changed = entry({ operation }, { target: row, body })
  assert.deepEqual(target(changed), ['MEMBERS_AND_ROLES', thing, '', 'MEMBER_ROLE'])
  assert.deepEqual(JSON.parse(changed?.change ?? ''), { user_id: thing, role_id: service, some_ids_in_order: [thing] })
  assert.deepEqual(target(entry({ operation }, { target: row })), [
    'MEMBERS_AND_ROLES',
    organization,
    'Org',
    'MEMBER_ROLE',
  ])
})

test('a user agent becomes one short line', () => {
  const operation = { target: 'service', event: { type: 'TRIGGER_STOP', target: 'SERVICE' } } as const
  const agent = (userAgent: string | undefined) => entry({ operation, userAgent }, { target: serviceRow })?.user_agent
  assert.equal(agent('CLI 1.2\u0000\u001b[31m\u2028x'), 'CLI 1.2 [31m x')
  assert.equal(agent('a'.repeat(1000))?.length, 256)
  assert.deepEqual([agent(undefined), agent('  ')], [null, null])
})
