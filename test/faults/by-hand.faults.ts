import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeJob, program } from '../support/job.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// Somebody changes containers and networks of the platform by hand. The platform restores what its
// records say.

const { server, application } = await startWebServer({ after }, web('first'))

interface Inspected {
  readonly Id: string
  readonly State: { readonly Status: string }
  readonly HostConfig: { readonly Memory: number; readonly NanoCpus: number; readonly RestartPolicy: { Name: string } }
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { IPAddress: string }>> }
}

/** Returns the only container of the application. */
async function container(): Promise<Inspected> {
  const [found, ...others] = await server.engine.containersWith(`quayside.service=${application.id}`)
  assert.deepEqual(others, [])
  // The shape is that of Docker's published API.
  return (await server.engine.ask('GET', `/containers/${found?.Id}/json`)) as Inspected
}
const network = () => `quay-env-${application.environmentId}`
const serves = (version: string) =>
  until(`"${version}" answers and is reported as running`, async () => {
    const answer = await application.answer().catch(() => undefined)
    if (answer?.status !== 200 || answer.body !== version) return false
    const { state, reason } = await application.status()
    return state === 'RUNNING' && reason === null
  })

test('changed limits are restored within a minute without a restart', { timeout: 180_000 }, async () => {
  const { Id, HostConfig } = await container()
  const change = { Memory: 2 * HostConfig.Memory, MemorySwap: 2 * HostConfig.Memory, RestartPolicy: { Name: 'no' } }
  await server.engine.ask('POST', `/containers/${Id}/update`, change)
  assert.equal((await container()).HostConfig.Memory, change.Memory)
  await until('the limits are restored', async () => (await container()).HostConfig.Memory === HostConfig.Memory, {
    limitMs: 90_000,
  })
  const now = await container()
  assert.deepEqual([now.Id, now.HostConfig.RestartPolicy.Name], [Id, 'always'])
  await serves('first')
})

test('a renamed container keeps running and the next deployment ends it', async () => {
  const { Id } = await container()
  await server.engine.ask('POST', `/containers/${Id}/rename?name=renamed-${Id.slice(0, 8)}`)
  await serves('first')
  assert.equal((await container()).Id, Id)
  await application.run(web('second'))
  await until(
    'the previous container is gone',
    async () => (await server.engine.ask('GET', `/containers/${Id}/json`)) === undefined,
  )
  await serves('second')
})

test('a container that was stopped by hand runs again', async () => {
  const { Id } = await container()
  await server.engine.ask('POST', `/containers/${Id}/stop?t=5`)
  await until('it runs', async () => (await container()).State.Status === 'running')
  await serves('second')
})

/** Records every observation of the application in order. The last one is what the API reports. */
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

test('a container removed from its network is put back before it is reported as running', async () => {
  const { Id } = await container()
  const isIn = async (): Promise<boolean> => Object.hasOwn((await container()).NetworkSettings.Networks, network())
  const told = await keepObservations()
  await server.engine.ask('POST', `/networks/${network()}/disconnect`, { Container: Id, Force: true })
  await until(
    'the application is reported as running again',
    async () => {
      const isRunning = (await told()).at(-1) === 'running'
      if (isRunning) assert.ok(await isIn(), 'the application is reported as running but cannot be reached')
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

test('a removed network is created again, for running and for stopped services', async () => {
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

test('a renamed run of a job ends normally and does not run twice', async (t) => {
  const cronjob = {
    ...program(`console.log('began'); setTimeout(() => console.log('ended'), 4000)`),
    timezone: 'UTC',
    // The schedule never comes due during a test. Tests make it due.
    scheduled_at: '0 0 29 2 *',
  }
  const job = await makeJob(server, { environmentId: application.environmentId, name: 'cron', schedule: { cronjob } })
  t.after(() => job.git.remove())
  await job.deploy()
  assert.equal((await job.settles()).state, 'DEPLOYED')
  await server.sql`update job_schedule set next_at = date_trunc('milliseconds', now()) where service_id = ${job.id}`
  await until('the run has begun', async () => (await job.printed('began')) === 1)
  const labels = [`quayside.service=${job.id}`, 'quayside.run']
  for (const { Id } of await server.engine.containersWith(...labels)) {
    await server.engine.ask('POST', `/containers/${Id}/rename?name=renamed-run-${Id.slice(0, 8)}`)
  }
  const run = await until('the run has ended', async () => {
    const [last] = await job.runs()
    return last?.finished_at !== null && last
  })
  assert.deepEqual([run.status, run.tries], ['SUCCESS', 1])
  await until('its last line is stored', async () => (await job.printed('ended')) === 1)
  assert.equal(await job.printed('began'), 1)
  await until('its container is gone', async () => (await server.engine.containersWith(...labels)).length === 0)
})
