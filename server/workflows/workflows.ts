import { type Database, type Fragment, openDatabase, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import type { Json } from '../lib/json.ts'
import type { Logger } from '../lib/log.ts'
import { claimUntil, type Engine } from './claimer.ts'
import { createEar, type Ear } from './ear.ts'
import { Holds } from './holds.ts'
import { keepLeases } from './keeper.ts'
import { Places } from './places.ts'
import { isAlive, processOwner } from './process-owner.ts'
import { within } from './statement.ts'
import { createWake } from './wake.ts'
import type { Workflow } from './workflow.ts'
import { type CountsFor, cancel, insert, shareOut, submission } from './workflow-store.ts'

/** How long and how often workflows are tried. */
interface WorkflowTiming {
  /** Default 15. */
  readonly leaseSeconds?: number
  /**
   * Maximum number of workflows that this process runs at the same time. Those that only wait do
   * not count (`StepOptions.rests`).
   */
  readonly maxRunning: number
  /** A workflow is parked after this many consecutive claims without an ended step. Default 10. */
  readonly maxAttempts?: number
  /** Milliseconds that aborted work may take to stop. Default 10,000. */
  readonly graceMs?: number
  /** Milliseconds until unreported work is found. Default 1,000. */
  readonly pollMs?: number
}

/** Which process claims work. */
interface WorkflowOwner {
  /** Unique per process. Default: host, process and its start time. */
  readonly owner?: string
  /** Whether this process may claim work now. Without it, always. */
  readonly mayClaim?: () => boolean
  /** Whether the process of an owner is alive. True if that cannot be known. */
  readonly isAlive?: (owner: string) => boolean
}

export interface WorkflowsOptions extends WorkflowTiming, WorkflowOwner {
  readonly database: Database
  /**
   * The same database, for a connection that listens and one that renews leases. Without it this
   * process finds work and cancels of others only by polling.
   */
  readonly url?: string | undefined
  /** Only workflows of these kinds run here. Others wait for a process that knows them. */
  readonly workflows: readonly Workflow[]
  readonly clock: Clock
  readonly log: Logger
}

export interface Submission {
  readonly id: string
  readonly kind: string
  /** Workflows with the same key run one after the other, in the order of submission. */
  readonly key: string
  readonly input: Json
  /** The owner whose share of the places it uses. */
  readonly countsFor: CountsFor
}

/** Counts since the start of this process. `running` is current. */
export type Counts = Readonly<Record<'running' | keyof Engine['counts'], number>>

export interface Workflows {
  /**
   * Inserts in the caller's transaction. Call `nudge` after its commit. Returns false if a workflow
   * with this id exists.
   */
  submit(sql: Sql, submission: Submission): Promise<boolean>
  /** The same as a part of the caller's statement: inserts if `from` has a row. */
  submission(sql: Sql, submission: Submission, from: Fragment): Fragment
  /**
   * Cancels in the caller's transaction. `canceled`: it was waiting and has ended. Its `abandoned`
   * is not called, so the caller writes the state in the same transaction. `running`: its signal is
   * aborted after the commit. `ended`: too late.
   */
  requestCancel(sql: Sql, id: string): Promise<'canceled' | 'running' | 'ended'>
  /** Looks for work now, in this process and in the others. */
  nudge(): void
  /** Can be called once. Does not wait for the database and does not fail without it. */
  start(): void
  /**
   * Aborts running workflows, waits for them and releases them, so that another process can claim
   * them at once. Called when this process may no longer claim.
   */
  handOver(): Promise<void>
  /** Claims nothing more, and hands over like `handOver`. */
  stop(): Promise<void>
  counts(): Counts
}

export function createWorkflows(options: WorkflowsOptions): Workflows {
  const engine = createEngine(options)
  const { clock, database, leases, limitMs, log, owner, runs, wake } = engine
  const claiming = new AbortController()
  const keeping = new AbortController()
  let active: { ear: Ear; claims: Promise<void>; keeper: Promise<void> } | undefined
  const handOver = async (): Promise<void> => {
    for (const lease of leases.values()) lease.stop()
    // Time for work to stop and to release its lease. Slower work is claimed again when its lease
    // ends.
    await within(clock, engine.graceMs + limitMs, Promise.all(runs)).catch(() => {})
    for (const lease of leases.values()) lease.lose('this process stopped')
    active?.ear.tell()
  }

  return {
    submit: insert,
    submission,
    requestCancel: async (sql, id) => (await cancel(sql, id)) ?? 'ended',
    nudge: () => {
      wake.wake()
      active?.ear.tell()
    },
    start: () => {
      if (active || claiming.signal.aborted) throw new Error('workflows can only be started once')
      const onCancel = (id: string): void => leases.get(id)?.cancel()
      active = {
        ear: createEar({ database, url: options.url, log, owner, onWork: wake.wake, onCancel }),
        claims: claimUntil(engine, claiming.signal),
        keeper: keepOnLine(engine, options.url, keeping.signal),
      }
    },
    handOver,
    stop: async () => {
      claiming.abort()
      wake.wake()
      await active?.claims
      await handOver()
      keeping.abort()
      await active?.keeper
      await within(clock, limitMs, active?.ear.close() ?? Promise.resolve()).catch(() => {})
    },
    counts: () => ({ ...engine.counts, running: leases.size }),
  }
}

/**
 * Uses a separate connection if possible, because renewals would be late behind other statements.
 */
async function keepOnLine(engine: Engine, url: string | undefined, signal: AbortSignal): Promise<void> {
  const line = url === undefined ? undefined : openDatabase({ url, max: 1, name: 'quayside leases' })
  await keepLeases({ ...engine, database: line ?? engine.database }, signal)
  await line?.end()
}

function createEngine(options: WorkflowsOptions): Engine {
  const kinds = new Map(options.workflows.map((workflow) => [workflow.name, workflow]))
  if (kinds.size !== options.workflows.length) throw new Error('two workflows have the same name')
  const leaseSeconds = options.leaseSeconds ?? 15
  const wake = createWake(options.clock)
  const { perOrganization: perOwner, ...reserves } = shareOut(options.maxRunning)
  return {
    maxAttempts: 10,
    graceMs: 10_000,
    pollMs: 1000,
    isAlive,
    mayClaim: () => true,
    ...options,
    leaseSeconds,
    limitMs: Math.min(5000, leaseSeconds * 500),
    idleMs: leaseSeconds * 1000,
    // With its own part, because two engines of one process must not take each other's claims for
    // their own lost ones.
    owner: `${options.owner ?? processOwner()}/${newId()}`,
    kinds,
    wake,
    places: new Places({ all: options.maxRunning, perOwner, ...reserves }, wake.wake),
    leases: new Map(),
    holds: new Holds(),
    runs: new Set(),
    counts: { claimed: 0, done: 0, failed: 0, canceled: 0, parked: 0, interrupted: 0, stopped: 0, lost: 0 },
  }
}
