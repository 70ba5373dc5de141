import { type Database, openDatabase } from '../database/index.ts'
import { systemClock } from '../lib/clock.ts'
import { armFailpoints } from '../lib/failpoint.ts'
import { silentLogger } from '../lib/log.ts'
import { until } from './testing.ts'
import { LeaseLostError, type RunContext, type Step, type Workflow } from './workflow.ts'
import { createWorkflows } from './workflows.ts'

// A process that runs workflows until it is killed, or until its parent has ended. Its workflows
// record their work in tables.

export interface WorkerOptions {
  readonly url: string
  readonly leaseSeconds?: number
  readonly maxAttempts?: number
  readonly failpoint?: string
}

/** The tables of the workflows, for the parents of workers. */
export const createTables = async (sql: Database): Promise<void> => {
  await sql`create table run (n bigserial, workflow uuid, key text, number int, step text, pid int)`
  await sql`create table effect (workflow uuid, step text, primary key (workflow, step))`
  await sql`create table overlap (key text)`
  await sql`create table kill_at (point text)`
  await sql`create table gate (name text)`
  await sql`create table note (text text)`
}

/**
 * `waits`: whether the gated workflow waits for its gate. Only the process that is going to lose
 * does.
 */
export function recipes(sql: Database, waits: boolean): Workflow[] {
  const abandoned = async (): Promise<void> => {}
  return [
    { name: 'deadly', abandoned, run: (_input, step, context) => runDeadly(sql, step, context) },
    {
      name: 'locked',
      abandoned,
      run: async (input, step, context) => {
        const [key, number] = String(input).split(' ')
        await step('work', () => workAlone(sql, `${key}`, { workflow: context.id, number: Number(number) }))
      },
    },
    { name: 'gated', abandoned, run: (_input, step, context) => runGated(sql, waits, step, context) },
    {
      name: 'poison',
      abandoned,
      run: async (_input, step) => {
        await step('poison', async () => kill())
      },
    },
    { name: 'harmless', abandoned, run: async () => {} },
  ]
}

const kill = (): Promise<null> => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
}

/** Every point at which the deadly workflow may kill its process, each once. */
export const deadlyPoints = [
  ...['a', 'b', 'c'].flatMap((name) => [`before ${name}`, `in ${name}`, `effect of ${name}`, `after ${name}`]),
  'end',
]

async function runDeadly(sql: Database, step: Step, context: RunContext): Promise<void> {
  const at = async (point: string): Promise<void> => {
    const rows = await sql`delete from kill_at where point = ${point} returning point`
    if (rows.length > 0) await kill()
  }
  for (const name of ['a', 'b', 'c']) {
    await at(`before ${name}`)
    const result = await step(name, async () => {
      await sql`insert into run (workflow, step, pid) values (${context.id}, ${name}, ${process.pid})`
      await at(`in ${name}`)
      await sql`insert into effect values (${context.id}, ${name}) on conflict do nothing`
      await at(`effect of ${name}`)
      return `result of ${name}`
    })
    await sql`insert into note values (${result})`
    await at(`after ${name}`)
  }
  await at('end')
}

/**
 * Records if another process works for the same key. PostgreSQL releases the lock of a killed
 * process.
 */
function workAlone(sql: Database, key: string, about: { workflow: string; number: number }): Promise<null> {
  return sql.begin(async (tx) => {
    const [row] = await tx<{ alone: boolean }[]>`select pg_try_advisory_xact_lock(hashtext(${key})) as alone`
    if (!row?.alone) await tx`insert into overlap values (${key})`
    await tx`insert into run (workflow, key, number, pid)
      values (${about.workflow}, ${key}, ${about.number}, ${process.pid})`
    await systemClock.sleep(5)
    return null
  })
}

async function runGated(sql: Database, waits: boolean, step: Step, context: RunContext): Promise<void> {
  const write = (): Promise<void> =>
    context.fenced(async (tx) => void (await tx`insert into effect values (${context.id}, ${String(waits)})`))
  const refused: unknown[] = []
  const note = (error: unknown): void => void refused.push(error)
  await step('first', async () => {
    if (waits) await until('gate', async () => (await sql`select from gate`).length > 0)
    return waits
  }).catch(note)
  await write().catch(note)
  await step('second', async () => waits, { evenIfCanceled: true }).catch(note)
  const lost = refused.filter((error) => error instanceof LeaseLostError).length
  await sql`insert into note values (${`${process.pid} refused ${lost} of ${refused.length}`})`
}

async function work(options: WorkerOptions): Promise<void> {
  armFailpoints(options.failpoint)
  const database = openDatabase({ url: options.url, max: 12, name: 'worker' })
  const engine = createWorkflows({
    database,
    clock: systemClock,
    log: silentLogger,
    maxRunning: 8,
    ...options,
    workflows: recipes(database, true),
  })
  engine.start()
  process.stdin.resume().on('end', () => process.exit())
}

const given = process.argv[2]
// Parsed from the arguments of `startWorker`.
if (import.meta.main && given) await work(JSON.parse(given) as WorkerOptions)
