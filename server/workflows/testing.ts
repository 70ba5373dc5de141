import { until as untilOf } from '../../test/support/until.ts'
import type { Database } from '../database/index.ts'
import { type Cleanup, testDatabase } from '../database/testing.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'
import { silentLogger } from '../lib/log.ts'
import type { Step, Workflow } from './workflow.ts'
import type { CountsFor } from './workflow-store.ts'
import { createWorkflows, type Workflows, type WorkflowsOptions } from './workflows.ts'

/**
 * The same as in all tests, but with a shorter interval, because some states of a workflow last for
 * milliseconds.
 */
export const until: typeof untilOf = (what, ask, options) => untilOf(what, ask, { everyMs: 5, ...options })

/** Builds a workflow from its run function. Adds to the list `abandoned` when it is abandoned. */
export function workflow(
  name: string,
  run: Workflow['run'],
  abandoned: { input: Json; reason: string }[] = [],
): Workflow {
  return {
    name,
    run,
    abandoned: async (input, reason) => {
      abandoned.push({ input, reason })
    },
  }
}

export interface TestWorkflows {
  readonly sql: Database
  readonly url: string
  /** A started engine that ends with the test. */
  start(workflows: readonly Workflow[], options?: Partial<WorkflowsOptions>): Workflows
}

/** Creates a database, and engines on it that stop before the database is removed. */
export async function testWorkflows(t: Cleanup): Promise<TestWorkflows> {
  const engines: Workflows[] = []
  t.after(async () => {
    await Promise.all(engines.map((engine) => engine.stop()))
  })
  const { sql, url } = await testDatabase(t)
  const base = { database: sql, clock: systemClock, log: silentLogger, maxRunning: 10 }
  return {
    sql,
    url,
    start: (workflows, options) => {
      const engine = createWorkflows({ ...base, ...options, workflows })
      engines.push(engine)
      engine.start()
      return engine
    },
  }
}

export async function submit(
  sql: Database,
  engine: Pick<Workflows, 'submit' | 'nudge'>,
  kind: string,
  more: { id?: string; key?: string; input?: Json; countsFor?: CountsFor } = {},
): Promise<string> {
  const id = more.id ?? newId()
  const { key = id, input = {}, countsFor = 'platform' } = more
  await engine.submit(sql, { id, kind, key, input, countsFor })
  engine.nudge()
  return id
}

export interface WorkflowRow {
  readonly state: string
  readonly error: string | null
  readonly attempts: number
  readonly fence: string
  readonly owner: string | null
  readonly finished_at: Date | null
}

export async function readWorkflow(sql: Database, id: string): Promise<WorkflowRow> {
  const [row] = await sql<WorkflowRow[]>`
    select state, error, attempts, fence::text as fence, owner, finished_at from workflow where id = ${id}`
  if (!row) throw new Error(`the workflow ${id} does not exist`)
  return row
}

/** Returns the workflow's row once it has ended. */
export const ended = (sql: Database, id: string, limitMs = 60_000): Promise<WorkflowRow> =>
  until(
    `end of workflow ${id}`,
    async () => {
      const row = await readWorkflow(sql, id)
      return row.state !== 'queued' && row.state !== 'running' ? row : undefined
    },
    { limitMs },
  )

export async function readSteps(
  sql: Database,
  id: string,
): Promise<{ name: string; status: string | null; error: string | null; ended: boolean }[]> {
  const rows = await sql<{ name: string; status: string | null; error: string | null; ended: boolean }[]>`
    select name, status, error, finished_at is not null as ended from workflow_step
    where workflow_id = ${id} order by started_at, name`
  return [...rows]
}

/** Work that only waits for its signal. */
export const aborted = (signal: AbortSignal, onBegin = (): unknown => undefined): Promise<never> =>
  new Promise((_, reject) => {
    onBegin()
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })

export const noWork = (step: Step, name: string): Promise<undefined> => step(name, async () => undefined)
