import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeJob, program } from '../support/job.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// Somebody changes on the engine what the platform made: what its records say comes back.

const { server, application } = await startWebServer({ after }, web('first'))

interface Inspected {
  readonly Id: string
  readonly State: { readonly Status: string }
  readonly HostConfig: { readonly Memory: number; readonly NanoCpus: number; readonly RestartPolicy: { Name: string } }
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { IPAddress: string }>> }
}

/** The only container of the application. */
async function container(): Promise<Inspected> {
  const [found, ...others] = await server.engine.containersWith(`quayside.service=${application.id}`)
  assert.deepEqual(others, [])
  // The shape is that of Docker's published API.
  return (await server.engine.ask('GET', `/containers/${found?.Id}/json`)) as Inspected
}
const network = () => `quay-env-${application.environmentId}`
const serves = (version: string) =>
  until(`"${version}" is answered and told as running`, async () => {
    const answer = await application.answer().catch(() => undefined)
    if (answer?.status !== 200 || answer.body !== version) return false
    const { state, reason } = await application.status()
    return state === 'RUNNING' && reason === null
  })

test('limits that somebody changed are put back within a minute, and it runs on', { timeout: 180_000 }, async () => {
  const { Id, HostConfig } = await container()
  const change = { Memory: 2 * HostConfig.Memory, MemorySwap: 2 * HostConfig.Memory, RestartPolicy: { Name: 'no' } }
  await server.engine.ask('POST', `/containers/${Id}/update`, change)
  assert.equal((await container()).HostConfig.Memory, change.Memory)
  await until('they are as they were', async () => (await container()).HostConfig.Memory === HostConfig.Memory, {
    limitMs: 90_000,
  })
  const now = await container()
  assert.deepEqual([now.Id, now.HostConfig.RestartPolicy.Name], [Id, 'always'])
  await serves('first')
})

test('a container that somebody renamed goes on, and is ended by the next deployment', async () => {
  const { Id } = await container()
  await server.engine.ask('POST', `/containers/${Id}/rename?name=renamed-${Id.slice(0, 8)}`)
  await serves('first')
  assert.equal((await container()).Id, Id)
  await application.run(web('second'))
  await until(
    'the former one is gone',
    async () => (await server.engine.ask('GET', `/containers/${Id}/json`)) === undefined,
  )
  await serves('second')
})

test('a container that somebody stopped runs again', async () => {
  const { Id } = await container()
  await server.engine.ask('POST', `/containers/${Id}/stop?t=5`)
  await until('it runs', async () => (await container()).State.Status === 'running')
  await serves('second')
})

/**
 * Has every observation of a service kept that replaces another one, in their order: what is told
 * of its running is the newest.
 */
async function keepObservations(): Promise<() => Promise<string[]>> {
  await server.sql`create table kept_observation (number serial, service_id uuid, state text, reason text)`
  await server.sql`create function keep_observation() returns trigger language plpgsql as $$ begin
    insert into kept_observation (service_id, state, reason) values (new.service_id, new.state, new.reason);
    return new; end $$`
  await server.sql`create trigger keep_observation after insert or update on observation
    for each row execute function keep_observation()`
  return async () => {
    const rows = await server.sql<{ told: string }[]>`
      select concat_ws(': ', state, reason) as told from kept_observation where service_id = ${application.id}
      order by number`
    return rows.map(({ told }) => told)
  }
}

test('a container that somebody took out of its network is put back, and is not called running before', async () => {
  const { Id } = await container()
  const isIn = async (): Promise<boolean> => Object.hasOwn((await container()).NetworkSettings.Networks, network())
  const told = await keepObservations()
  await server.engine.ask('POST', `/networks/${network()}/disconnect`, { Container: Id, Force: true })
  await until(
    'it is told as running again',
    async () => {
      const isRunning = (await told()).at(-1) === 'running'
      if (isRunning) assert.ok(await isIn(), 'it is told as running, and nothing reaches it')
      return isRunning
    },
    { seen: told },
  )
  const [first, ...others] = await told()
  assert.match(first ?? '', /^starting: .* is not in the network of its environment$/)
  assert.equal(others.filter((one) => one === 'running').length, 1, others.join(', '))
  assert.equal((await container()).Id, Id)
  await serves('second')
})

test('a network that somebody removed is made anew, for what runs and for what was stopped', async () => {
  for (const stopped of [false, true]) {
    const { Id } = await container()
    server.pause()
    try {
      if (stopped) await server.engine.ask('POST', `/containers/${Id}/stop?t=5`)
      await server.engine.ask('POST', `/networks/${network()}/disconnect`, { Container: Id, Force: true })
      await server.engine.ask('DELETE', `/networks/${network()}`)
    } finally {
      server.resume()
    }
    await serves('second')
    assert.notEqual((await container()).NetworkSettings.Networks[network()]?.IPAddress ?? '', '')
  }
})

test('a run of a job that somebody renamed goes on to its end, and is not run beside', async (t) => {
  const cronjob = {
    ...program(`console.log('began'); setTimeout(() => console.log('ended'), 4000)`),
    timezone: 'UTC',
    // By itself it never comes within a test; a test says that its time has come.
    scheduled_at: '0 0 29 2 *',
  }
  const job = await makeJob(server, { environmentId: application.environmentId, name: 'cron', schedule: { cronjob } })
  t.after(() => job.git.remove())
  await job.deploy()
  assert.equal((await job.settles()).state, 'DEPLOYED')
  await server.sql`update job_schedule set next_at = date_trunc('milliseconds', now()) where service_id = ${job.id}`
  await until('it has begun', async () => (await job.printed('began')) === 1)
  const labels = [`quayside.service=${job.id}`, 'quayside.run']
  for (const { Id } of await server.engine.containersWith(...labels)) {
    await server.engine.ask('POST', `/containers/${Id}/rename?name=renamed-run-${Id.slice(0, 8)}`)
  }
  const run = await until('it has ended', async () => {
    const [last] = await job.runs()
    return last?.finished_at !== null && last
  })
  assert.deepEqual([run.status, run.tries], ['SUCCESS', 1])
  await until('its last line is there', async () => (await job.printed('ended')) === 1)
  assert.equal(await job.printed('began'), 1)
  await until('nothing of it is left', async () => (await server.engine.containersWith(...labels)).length === 0)
})
