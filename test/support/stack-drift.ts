import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type LabBench, labSuite } from './lab-suite.ts'
import type { ServerProcess } from './server-process.ts'
import type { OpenStackPlace } from './stack-place.ts'
import { until } from './until.ts'
import { startReceiver } from './webhook-receiver.ts'

const secret = 'canary-drift-secret'
const tf_vars = [{ key: 'password', value: secret, secret: true }]
const withSecret = { terraform_variables_source: { tf_var_file_paths: [], tf_vars } }

/**
 * A resource that somebody changes behind the back of its stack, wherever the place runs it. Checks
 * find it and apply nothing.
 */
export const stackDrift = (name: string, open: OpenStackPlace): Promise<void> =>
  labSuite({ name, folder: 'stack-drift', open, settings: withSecret }, stackDriftCases)

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

function stackDriftCases(get: () => LabBench): void {
  const server = (): ServerProcess => get().place.server
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
  url     = "${get().lab.inside('open')}"
  content = "wanted"
}
resource "lab_document" "hidden" {
  url     = "${get().lab.inside('hidden')}"
  content = var.password
}
`,
  })
  const policy = () => server().must<Policy>('GET', `/terraform/${get().stack.id}/driftPolicy`)
  const deploymentStatus = async (): Promise<string | undefined> => {
    const { terraforms } = await server().must<{ terraforms: { id: string; service_deployment_status: string }[] }>(
      'GET',
      `/environment/${get().place.environmentId}/statuses`,
    )
    return terraforms.find(({ id }) => id === get().stack.id)?.service_deployment_status
  }
  /** Makes the next check due, and waits until its workflow has ended. */
  const check = async (): Promise<Policy> => {
    await beginCheck()
    await ended()
    return policy()
  }
  const ended = () =>
    until('the check has ended', async () => {
      const [open] = await server().sql`
      select id from workflow where kind = 'stack-drift' and state in ('queued', 'running')`
      return open ? undefined : true
    })
  const beginCheck = async (): Promise<boolean> => {
    const count = async () => (await server().sql`select id from workflow where kind = 'stack-drift'`).length
    const before = await count()
    await server().sql`update stack_drift_policy set next_at = now() where service_id = ${get().stack.id}`
    return until('a check has begun', async () => ((await count()) > before ? true : undefined))
  }
  const checkNow = () => server().must<Run>('POST', `/terraform/${get().stack.id}/driftCheck`)
  const refusal = async (): Promise<string> => {
    const { status, body } = await server().api('POST', `/terraform/${get().stack.id}/driftCheck`)
    return `${status} ${Object(body).message}`
  }
  const addWebhook = async (target_url: string): Promise<void> => {
    const { results } = await server().must<{ results: { id: string }[] }>('GET', '/organization')
    const events = ['STACK_DRIFTED', 'DEPLOYMENT_SUCCESSFUL']
    const hook = { kind: 'STANDARD', target_url, events, enabled: true }
    await server().must('POST', `/organization/${results[0]?.id}/webhook`, hook)
  }
  const events = () =>
    server().sql<{ payload: { terraforms: { id: string }[]; logs: string[] } }[]>`
    select payload from event where type = 'STACK_DRIFTED' order by seq`

  it('a stack that was never deployed is not checked', async () => {
    const set = await server().must<Policy>('PUT', `/terraform/${get().stack.id}/driftPolicy`, { cron_at: '0 4 * * *' })
    assert.ok(set.next_at)
    assert.equal((await check()).last_run, null)
    assert.match(await refusal(), /^409 Stack "stack-drift" is READY and has no applied version to check\./)
  })

  it('a check without changes leaves the stack up to date', async () => {
    assert.deepEqual(await get().stack.run(tree()), { state: 'DEPLOYED', reason: null })
    const { last_run, drifted_at } = await check()
    assert.deepEqual([last_run?.action, last_run?.status, last_run?.drifted], ['DRIFT', 'SUCCESS', 0])
    assert.equal(drifted_at, null)
    assert.equal(await deploymentStatus(), 'UP_TO_DATE')
  })

  it('a change from outside makes the stack out of date, is named, and is not undone', async () => {
    await get().lab.write('open', 'changed by hand')
    await get().lab.write('hidden', `${secret}-changed`)
    const { last_run, drifted_at } = await check()
    assert.ok(drifted_at)
    assert.equal(last_run?.drifted, 2)
    assert.equal(await deploymentStatus(), 'OUT_OF_DATE')
    const plan = await server().must<{ drift: { address: string; changes: object[] }[] }>(
      'GET',
      `/terraform/${get().stack.id}/run/${last_run?.id}/plan`,
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
    assert.equal(await get().lab.read('open'), 'changed by hand')
    const [event, ...others] = await events()
    assert.equal(others.length, 0)
    assert.equal(event?.payload.terraforms[0]?.id, get().stack.id)
    assert.match(
      event?.payload.logs.join('\n') ?? '',
      /~ changed lab_document\.open\n.*content: "wanted" → "changed by hand"/,
    )
    assert.doesNotMatch(JSON.stringify(event), /canary-drift-secret/)
  })

  it('a second check of the same change is no news', async () => {
    await check()
    assert.equal((await events()).length, 1)
  })

  it('a deployment restores the resources, and the stack is up to date', async () => {
    await get().stack.deploy()
    assert.deepEqual(await get().stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.deepEqual([await get().lab.read('open'), await get().lab.read('hidden')], ['wanted', secret])
    assert.equal((await policy()).drifted_at, null)
    assert.equal(await deploymentStatus(), 'UP_TO_DATE')
  })

  it('a requested check finds a change, and a webhook receiver is notified once', async () => {
    const receiver = await startReceiver()
    try {
      await addWebhook(receiver.url)
      await get().lab.write('open', 'changed again')
      await get().lab.hold(true)
      const run = await checkNow()
      assert.deepEqual([run.action, run.status], ['DRIFT', 'RUNNING'])
      assert.match(await refusal(), new RegExp(`^409 The stack is locked by its run ${run.id} since `))
      await get().lab.hold(false)
      await ended()
      const { last_run, next_at } = await policy()
      assert.deepEqual([last_run?.id, last_run?.status, last_run?.drifted], [run.id, 'SUCCESS', 1])
      assert.ok(next_at)
      assert.equal(await deploymentStatus(), 'OUT_OF_DATE')
      const delivery = await until('the receiver is notified', async () =>
        receiver.deliveries.find(({ event }) => event === 'STACK_DRIFTED'),
      )
      const { terraforms, logs, current_status } = delivery.payload
      assert.deepEqual([delivery.event, current_status], ['STACK_DRIFTED', 'OUT_OF_DATE'])
      assert.deepEqual(terraforms, [{ id: get().stack.id, name: 'stack-drift', status: 'OUT_OF_DATE' }])
      assert.match(String(logs), /content: "wanted" → "changed again"/)
      await checkNow()
      await ended()
      await get().stack.deploy()
      assert.deepEqual(await get().stack.settles(), { state: 'DEPLOYED', reason: null })
      // Events are delivered in order, so that of the deployment is behind a second one.
      await until(
        'the deployment is delivered',
        async () => receiver.deliveries.at(-1)?.event === 'DEPLOYMENT_SUCCESSFUL',
      )
      assert.equal(receiver.deliveries.filter(({ event }) => event === 'STACK_DRIFTED').length, 1)
    } finally {
      receiver.close()
    }
  })

  it('a resource that was deleted is drift, and is none once somebody has restored it', async () => {
    await get().lab.write('open', undefined)
    const found = await check()
    assert.ok(found.drifted_at)
    await get().lab.write('open', 'wanted')
    const { drifted_at } = await check()
    assert.equal(drifted_at, null)
    assert.equal(await deploymentStatus(), 'UP_TO_DATE')
  })

  it('a check that fails says why, and changes nothing', async () => {
    await get().lab.refuse('GET', true)
    const { last_run, drifted_at } = await check()
    await get().lab.refuse('GET', false)
    assert.equal(last_run?.status, 'ERROR')
    assert.match(last_run?.reason ?? '', /The stack could not make a plan.*The document could not be read/)
    assert.equal(drifted_at, null)
    const [{ state } = { state: '' }] = await server().sql<{ state: string }[]>`
    select state from service where id = ${get().stack.id}`
    assert.equal(state, 'DEPLOYED')
  })

  it('a deployment takes the place of a check that is running', async () => {
    await get().lab.hold(true)
    await beginCheck()
    const run = await until('the check runs', async () => {
      const [row] = await server().sql<{ id: string }[]>`
      select id from stack_run where service_id = ${get().stack.id} and action = 'DRIFT' and status = 'RUNNING'`
      return row
    })
    await get().stack.deploy()
    await until('the deployment has the lock', async () => {
      const [row] = await server().sql`
      select id from stack_run where service_id = ${get().stack.id} and action = 'APPLY' and status = 'RUNNING'`
      return row
    })
    await get().lab.hold(false)
    assert.deepEqual(await get().stack.settles(), { state: 'DEPLOYED', reason: null })
    const [ended] = await server().sql<Run[]>`select status, reason from stack_run where id = ${run.id}`
    assert.deepEqual([ended?.status, ended?.reason], ['CANCELED', 'A deployment took its place.'])
  })

  it('a server that is killed during a check continues with it', async () => {
    await get().lab.hold(true)
    await beginCheck()
    await until('the check runs', async () => {
      const [row] = await server().sql`
      select r.id from stack_run r join workflow_step p on p.workflow_id = r.id and p.name = 'PREPARE'
      where r.service_id = ${get().stack.id} and r.status = 'RUNNING' and p.finished_at is not null`
      return row
    })
    await server().kill9()
    await server().restart({ env: get().place.env })
    await get().lab.hold(false)
    await ended()
    const { last_run } = await policy()
    assert.deepEqual([last_run?.action, last_run?.status], ['DRIFT', 'SUCCESS'])
  })

  it('a stopped environment is not checked', async () => {
    const runs = async () => (await server().sql`select id from stack_run where service_id = ${get().stack.id}`).length
    await server().must('POST', `/environment/${get().place.environmentId}/stop`)
    assert.equal((await get().stack.settles()).state, 'STOPPED')
    const before = await runs()
    await check()
    assert.match(await refusal(), /^409 Stack "stack-drift" is STOPPED and has no applied version/)
    assert.equal(await runs(), before)
  })
}
