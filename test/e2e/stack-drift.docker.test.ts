import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type Lab, makeLab } from '../support/lab.ts'
import { provideLabImage } from '../support/lab-provider/build.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, type TestStack } from '../support/stack.ts'
import { until } from '../support/until.ts'

// A resource that somebody changes behind the back of its stack. Checks find it and apply nothing.

const image = await provideLabImage('opentofu')
const skip = image === undefined && 'this machine has no tofu or no Go'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
let lab: Lab
let stack: TestStack
const secret = 'canary-drift-secret'

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-drift')
  lab = await makeLab(server, environmentId)
  const tf_vars = [{ key: 'password', value: secret, secret: true }]
  const settings = { engine: 'OPEN_TOFU', terraform_variables_source: { tf_var_file_paths: [], tf_vars } }
  stack = await makeStack(server, { environmentId, name: 'drifting', version, settings })
})
after(async () => {
  await Promise.all([stack?.git.remove(), lab?.application.git.remove()])
  await server?.close()
})

const tree = () => ({
  'main.tf': `
terraform {
  required_providers {
    lab = { source = "quayside.test/quayside/lab" }
  }
}
variable "password" {
  type      = string
  sensitive = true
}
resource "lab_document" "open" {
  url     = "${lab.inside('open')}"
  content = "wanted"
}
resource "lab_document" "hidden" {
  url     = "${lab.inside('hidden')}"
  content = var.password
}
`,
})
interface Run {
  readonly id: string
  readonly action: string
  readonly status: string
  readonly reason: string | null
}
interface Policy {
  readonly next_at: string | null
  readonly drifted_at: string | null
  readonly last_run: (Run & { readonly drifted: number | null }) | null
}
const policy = () => server.must<Policy>('GET', `/terraform/${stack.id}/driftPolicy`)
const deploymentStatus = async (): Promise<string | undefined> => {
  const { terraforms } = await server.must<{ terraforms: { id: string; service_deployment_status: string }[] }>(
    'GET',
    `/environment/${environmentId}/statuses`,
  )
  return terraforms.find(({ id }) => id === stack.id)?.service_deployment_status
}
/** Makes the next check due, and waits until its workflow has ended. */
const check = async (): Promise<Policy> => {
  await beginCheck()
  await ended()
  return policy()
}
const ended = () =>
  until('the check has ended', async () => {
    const [open] = await server.sql`
      select id from workflow where kind = 'stack-drift' and state in ('queued', 'running')`
    return open ? undefined : true
  })
const beginCheck = async (): Promise<boolean> => {
  const count = async () => (await server.sql`select id from workflow where kind = 'stack-drift'`).length
  const before = await count()
  await server.sql`update stack_drift_policy set next_at = now() where service_id = ${stack.id}`
  return until('a check has begun', async () => ((await count()) > before ? true : undefined))
}
const events = () =>
  server.sql<{ payload: { terraforms: { id: string }[]; logs: string[] } }[]>`
    select payload from event where type = 'STACK_DRIFTED' order by seq`

test('a stack that was never deployed is not checked', { skip }, async () => {
  const set = await server.must<Policy>('PUT', `/terraform/${stack.id}/driftPolicy`, { cron_at: '0 4 * * *' })
  assert.ok(set.next_at)
  assert.equal((await check()).last_run, null)
})

test('a check without changes leaves the stack up to date', { skip }, async () => {
  assert.deepEqual(await stack.run(tree()), { state: 'DEPLOYED', reason: null })
  const { last_run, drifted_at } = await check()
  assert.deepEqual([last_run?.action, last_run?.status, last_run?.drifted], ['DRIFT', 'SUCCESS', 0])
  assert.equal(drifted_at, null)
  assert.equal(await deploymentStatus(), 'UP_TO_DATE')
})

test('a change from outside makes the stack out of date, is named, and is not undone', { skip }, async () => {
  await lab.write('open', 'changed by hand')
  await lab.write('hidden', `${secret}-changed`)
  const { last_run, drifted_at } = await check()
  assert.ok(drifted_at)
  assert.equal(last_run?.drifted, 2)
  assert.equal(await deploymentStatus(), 'OUT_OF_DATE')
  const plan = await server.must<{ drift: { address: string; changes: object[] }[] }>(
    'GET',
    `/terraform/${stack.id}/run/${last_run?.id}/plan`,
  )
  const open = plan.drift.find(({ address }) => address === 'lab_document.open')
  const content = {
    name: 'content',
    before: '"wanted"',
    after: '"changed by hand"',
    is_sensitive: false,
    is_known: true,
  }
  assert.deepEqual(open?.changes[0], content)
  assert.doesNotMatch(JSON.stringify(plan), /canary-drift-secret/)
  assert.equal(await lab.read('open'), 'changed by hand')
  const [event, ...others] = await events()
  assert.equal(others.length, 0)
  assert.equal(event?.payload.terraforms[0]?.id, stack.id)
  assert.match(
    event?.payload.logs.join('\n') ?? '',
    /~ changed lab_document\.open\n.*content: "wanted" → "changed by hand"/,
  )
  assert.doesNotMatch(JSON.stringify(event), /canary-drift-secret/)
})

test('a second check of the same change is no news', { skip }, async () => {
  await check()
  assert.equal((await events()).length, 1)
})

test('a deployment restores the resources, and the stack is up to date', { skip }, async () => {
  await stack.deploy()
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  assert.deepEqual([await lab.read('open'), await lab.read('hidden')], ['wanted', secret])
  assert.equal((await policy()).drifted_at, null)
  assert.equal(await deploymentStatus(), 'UP_TO_DATE')
})

test('a resource that was deleted is drift, and is none once somebody has restored it', { skip }, async () => {
  await lab.write('open', undefined)
  const found = await check()
  assert.ok(found.drifted_at)
  await lab.write('open', 'wanted')
  const { drifted_at } = await check()
  assert.equal(drifted_at, null)
  assert.equal(await deploymentStatus(), 'UP_TO_DATE')
})

test('a check that fails says why, and changes nothing', { skip }, async () => {
  await lab.refuse('GET', true)
  const { last_run, drifted_at } = await check()
  await lab.refuse('GET', false)
  assert.equal(last_run?.status, 'ERROR')
  assert.match(last_run?.reason ?? '', /The stack could not make a plan.*The document could not be read/)
  assert.equal(drifted_at, null)
  const [{ state } = { state: '' }] = await server.sql<{ state: string }[]>`
    select state from service where id = ${stack.id}`
  assert.equal(state, 'DEPLOYED')
})

test('a deployment takes the place of a check that is running', { skip }, async () => {
  await lab.hold(true)
  await beginCheck()
  const run = await until('the check runs', async () => {
    const [row] = await server.sql<{ id: string }[]>`
      select id from stack_run where service_id = ${stack.id} and action = 'DRIFT' and status = 'RUNNING'`
    return row
  })
  await stack.deploy()
  await until('the deployment has the lock', async () => {
    const [row] = await server.sql`
      select id from stack_run where service_id = ${stack.id} and action = 'APPLY' and status = 'RUNNING'`
    return row
  })
  await lab.hold(false)
  assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  const [ended] = await server.sql<Run[]>`select status, reason from stack_run where id = ${run.id}`
  assert.deepEqual([ended?.status, ended?.reason], ['CANCELED', 'A deployment took its place.'])
})

test('a server that is killed during a check continues with it', { skip }, async () => {
  await lab.hold(true)
  await beginCheck()
  await until('the check runs', async () => {
    const [row] = await server.sql`
      select r.id from stack_run r join workflow_step p on p.workflow_id = r.id and p.name = 'PREPARE'
      where r.service_id = ${stack.id} and r.status = 'RUNNING' and p.finished_at is not null`
    return row
  })
  await server.kill9()
  await server.restart({ env: { QUAYSIDE_OPENTOFU_IMAGE: image ?? '' } })
  await lab.hold(false)
  await ended()
  const { last_run } = await policy()
  assert.deepEqual([last_run?.action, last_run?.status], ['DRIFT', 'SUCCESS'])
})

test('a stopped environment is not checked', { skip }, async () => {
  const runs = async () => (await server.sql`select id from stack_run where service_id = ${stack.id}`).length
  await server.must('POST', `/environment/${environmentId}/stop`)
  assert.equal((await stack.settles()).state, 'STOPPED')
  const before = await runs()
  await check()
  assert.equal(await runs(), before)
})
