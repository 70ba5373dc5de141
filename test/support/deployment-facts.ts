import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestApplication } from './application.ts'
import type { ServerProcess } from './server-process.ts'
import { until } from './until.ts'
import type { Delivery } from './webhook-receiver.ts'

export interface StepFact {
  readonly name: string
  readonly started_at: Date
  readonly finished_at: Date
}

/** Returns the newest deployment request of the application. */
export async function lastRequest(server: ServerProcess, application: TestApplication): Promise<string> {
  const [row] = await server.sql<{ request_id: string }[]>`
    select request_id from deployment_target where service_id = ${application.id} order by service_seq desc limit 1`
  return row?.request_id ?? assert.fail('the application has no deployment request')
}

/**
 * Waits until no workflow is open. Other work that is in progress when a server is killed, such as
 * handling a push, resumes at the next start and would reach a failpoint first.
 */
export const nothingWorks = (server: ServerProcess): Promise<true> =>
  until(
    'no workflow is open',
    async () => (await server.sql`select from workflow where state in ('queued', 'running') limit 1`).length === 0,
    { limitMs: 60_000 },
  )

/** Returns the steps of a request that are recorded as done. */
export const doneSteps = (server: ServerProcess, request: string): Promise<StepFact[]> =>
  server.sql<StepFact[]>`
    select name, started_at, finished_at from workflow_step where workflow_id = ${request} and status = 'SUCCESS'
    order by name`

/**
 * Asserts that a successful deployment left nothing behind despite the fault. It has one container,
 * one network, no checkout and a finished workflow. Steps recorded before the fault did not run
 * again.
 */
export async function assertDeployedOnce(
  server: ServerProcess,
  application: TestApplication,
  expected: {
    readonly version: string
    readonly request: string
    readonly recorded?: readonly StepFact[]
    readonly limitMs?: number
  },
): Promise<void> {
  const { version, request, recorded = [] } = expected
  const { state, reason } = await application.settles(expected.limitMs)
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
  assert.deepEqual(await application.answer(), { status: 200, body: version })

  const containers = await server.engine.containersWith(
    `quayside.instance=${server.instance}`,
    `quayside.service=${application.id}`,
  )
  assert.deepEqual(
    containers.map((container) => container.State),
    ['running'],
  )
  assert.equal((await server.engine.networksWith(`quayside.environment=${application.environmentId}`)).length, 1)
  assert.deepEqual(await readdir(join(server.dataDirectory, 'checkouts', 'scratch')), [])

  const workflow = async (): Promise<string | undefined> =>
    (await server.sql<{ state: string }[]>`select state from workflow where id = ${request}`)[0]?.state
  await until('the workflow has ended', async () => (await workflow()) !== 'running')
  assert.equal(await workflow(), 'done')
  const steps = new Map((await doneSteps(server, request)).map((step) => [step.name, step]))
  for (const step of recorded) assert.deepEqual(steps.get(step.name), step, `step ${step.name} ran again`)
}

/**
 * Waits until the success of each request is delivered. Asserts one start and one success for each;
 * repeated deliveries have the same id. A delivery that was interrupted by a kill is repeated after
 * 20 s.
 */
export async function assertToldOnce(requests: readonly string[], deliveries: readonly Delivery[]): Promise<void> {
  const eventsOf = (request: string): string[] => {
    const mine = deliveries.filter(({ payload }) => payload['id'] === request)
    return [...new Map(mine.map(({ id, event }) => [id, event])).values()]
  }
  await until('the last success is delivered', () => eventsOf(requests.at(-1) ?? '').length === 2, { limitMs: 45_000 })
  for (const request of requests) {
    assert.deepEqual(eventsOf(request), ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL'], `deliveries for ${request}`)
  }
}
