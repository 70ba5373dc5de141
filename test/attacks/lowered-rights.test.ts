import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ProjectLevel } from '../../contract/roles.ts'
import { builtInRoleId } from '../../server/access/index.ts'
import { fakeWorkload } from '../../server/engines/fake/fake-workload.ts'
import { silent } from '../../server/lib/attempt.ts'
import { newId } from '../../server/lib/id.ts'
import { addPerson, signIn, tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'
import { type EventsClient, eventOf, openEvents, openSocket } from '../support/streams.ts'
import { now, until } from '../support/until.ts'

/**
 * L6, L11: when somebody loses rights, open streams that need them end within five seconds. Other
 * streams continue.
 */
const limitMs = 5_000
const platform = await createPlatform({ after })
const { a, database, engine, rooms } = platform
const { organizationId, clusterId, objects } = a
const origin = await platform.listen()
const place = new URLSearchParams({
  organization: organizationId,
  cluster: clusterId,
  project: objects.projectId,
  environment: objects.environmentId,
  service: objects.applicationId,
})
await engine.start(
  {
    ...{ id: newId(), service: objects.applicationId, environment: objects.environmentId, displayName: 'app' },
    workload: fakeWorkload('web'),
  },
  { signal: AbortSignal.timeout(60_000), output: silent },
)

/**
 * Opens a shell, which needs WRITE, lines of the service, and events of the organization, which are
 * filtered by rights.
 */
async function openAll(token: string) {
  const shell = openSocket(origin, `/shell/exec?${place}&tty_width=80&tty_height=24`, { token })
  const lines = openSocket(origin, `/service/logs?${place}`, { token })
  const events = await openEvents(origin, `/organization/${organizationId}/stream`, {
    authorization: `Bearer ${token}`,
  })
  await until('the shell', () => shell.bytes().includes('size 80x24'))
  await until('the lines', () => lines.socket.readyState === lines.socket.OPEN)
  await eventOf(events, 'ready')
  assert.equal(await isTold(events), true)
  return { shell, lines, events }
}

/**
 * Returns whether the client receives a change of the project. A change of the cluster follows it
 * and marks the end.
 */
async function isTold(client: EventsClient): Promise<boolean> {
  const mark = newId()
  const data = database.json({ mark })
  await database`
    insert into state_change (organization_id, project_id, mode, cluster_id, type, data) values
      (${organizationId}, ${objects.projectId}, 'DEVELOPMENT', null, 'service.state', ${data}),
      (${organizationId}, null, null, ${clusterId}, 'cluster.status', ${data})`
  const told = (type: string): boolean =>
    client.events.some(({ event, data: text = '' }) => event === type && text.includes(mark))
  await until('the change of the cluster', () => told('cluster.status'))
  return told('service.state')
}

async function within<T>(what: string, began: number, ended: Promise<T>): Promise<T> {
  const value = await ended
  const ms = Math.round(now() - began)
  assert.ok(ms < limitMs, `${what} after ${ms} ms`)
  return value
}
const isOpen = ({ socket }: ReturnType<typeof openSocket>): boolean => socket.readyState === socket.OPEN
async function closed(what: string, began: number, { ended }: ReturnType<typeof openSocket>): Promise<void> {
  const { code, reason } = await within(what, began, ended)
  assert.deepEqual([what, code, reason !== ''], [what, 1008, true])
}
const silenced = (began: number, events: EventsClient): Promise<unknown> =>
  within(
    'no change arrives any more',
    began,
    until('no change arrives', async () => !(await isTold(events))),
  )

test('L6, L11: a member loses shell, lines and events with the rights, and everything with the membership', async () => {
  const member = { organizationId, role: 'DEVOPS' as const }
  const { id } = await addPerson(database, { email: 'lowered@a.example', member })
  const { shell, lines, events } = await openAll(await signIn(platform, id))
  const lower = async (role: 'VIEWER' | 'BILLING_MANAGER'): Promise<number> => {
    const began = now()
    await rooms.members.setRole(organizationId, { user_id: id, role_id: builtInRoleId(organizationId, role) })
    return began
  }
  await closed('the shell', await lower('VIEWER'), shell)
  assert.deepEqual([isOpen(lines), events.isOver(), await isTold(events)], [true, false, true])
  const billing = await lower('BILLING_MANAGER')
  await Promise.all([closed('the lines', billing, lines), silenced(billing, events)])
  assert.equal(events.isOver(), false)
  const left = now()
  await rooms.members.remove(organizationId, id)
  await within('the end of the events', left, eventOf(events, 'end'))
  await until('the end', () => events.isOver())
  assert.ok(events.isWhole())
})

test('L6, L11: a token loses the shell, lines and events with the rights of its creator', async () => {
  const member = { organizationId, role: 'ADMIN' as const }
  const { id } = await addPerson(database, { email: 'creator@a.example', member })
  const maker = { name: 'creator', permissions: ['ADMIN' as const], accountId: id }
  const { token } = await rooms.apiTokens.create(organizationId, maker, { name: newId(), scope: 'ADMIN' })
  const { shell, lines, events } = await openAll(token)
  const lower = async (role: 'VIEWER' | 'BILLING_MANAGER'): Promise<number> => {
    const began = now()
    await rooms.members.setRole(organizationId, { user_id: id, role_id: builtInRoleId(organizationId, role) })
    return began
  }
  await closed('the shell', await lower('VIEWER'), shell)
  assert.deepEqual([isOpen(lines), await isTold(events)], [true, true])
  const billing = await lower('BILLING_MANAGER')
  await Promise.all([closed('the lines', billing, lines), silenced(billing, events)])
  events.close()
})

test('L6, L11: a token whose role loses rights loses the shell, then lines and events', async () => {
  const role = await rooms.customRoles.create(organizationId, { name: newId() })
  const give = async (permission: ProjectLevel): Promise<number> => {
    const began = now()
    await rooms.customRoles.edit(organizationId, role.id, {
      name: newId(),
      cluster_permissions: [],
      project_permissions: [
        {
          ...{ project_id: objects.projectId, is_admin: false },
          permissions: [{ environment_type: 'DEVELOPMENT', permission }],
        },
      ],
    })
    return began
  }
  await give('MANAGER')
  const { shell, lines, events } = await openAll(await tokenWithRole(platform, organizationId, role.id))
  await closed('the shell', await give('VIEWER'), shell)
  assert.deepEqual([isOpen(lines), await isTold(events)], [true, true])
  const nothing = await give('NO_ACCESS')
  await Promise.all([closed('the lines', nothing, lines), silenced(nothing, events)])
  assert.equal(events.isOver(), false)
  events.close()
})
