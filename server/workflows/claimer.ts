import type { Database } from '../database/index.ts'
import { messageOf } from '../lib/error.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { Holds } from './holds.ts'
import { safeMs } from './keeper.ts'
import { Lease } from './lease.ts'
import { backOff } from './outage.ts'
import type { Places } from './places.ts'
import { type Ending, runWorkflow } from './run-workflow.ts'
import { pause, type StatementOptions, within } from './statement.ts'
import type { Wake } from './wake.ts'
import type { Workflow } from './workflow.ts'
import { type Claimed, claim, readRunning, releaseOwners, shareOut } from './workflow-store.ts'

/** The dependencies of one engine and its work in progress. */
export interface Engine extends StatementOptions {
  readonly database: Database
  readonly kinds: ReadonlyMap<string, Workflow>
  readonly owner: string
  readonly leaseSeconds: number
  readonly maxRunning: number
  readonly places: Places
  readonly maxAttempts: number
  readonly graceMs: number
  readonly idleMs: number
  readonly pollMs: number
  readonly isAlive: (owner: string) => boolean
  readonly mayClaim: () => boolean
  readonly wake: Wake
  /** By id of the workflow, from its claim until no part of it runs here any more. */
  readonly leases: Map<string, Lease>
  readonly holds: Holds
  readonly runs: Set<Promise<void>>
  readonly counts: Record<'claimed' | Ending['state'], number>
}

/**
 * Claims and launches workflows until the signal is aborted. It waits for an unreachable database.
 */
export async function claimUntil(engine: Engine, signal: AbortSignal): Promise<void> {
  const { clock, pollMs, wake } = engine
  let surveyDueAt = 0
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (!engine.mayClaim()) {
        await wake.wait(pollMs)
        continue
      }
      if (clock.monotonic() >= surveyDueAt) {
        surveyDueAt = clock.monotonic() + pollMs
        await survey(engine)
      }
      await claimOnce(engine)
      failures = 0
      await wake.wait(pollMs)
    } catch (error) {
      failures++
      engine.log.warn({ reason: messageOf(error), failures }, 'workflows could not be claimed')
      await pause(clock, backOff(failures, 50, 2000), signal).catch(() => {})
    }
  }
}

/**
 * Finds changes that no message reported: cancelled workflows of ours, and owners of this host that
 * died.
 */
async function survey({ database, clock, log, limitMs, owner, leases, isAlive }: Engine): Promise<void> {
  const running = await within(clock, limitMs, readRunning(database))
  for (const row of running) if (row.cancel_requested) leases.get(row.id)?.cancel()
  const owners = new Set(running.map((row) => row.owner).filter((name) => name !== null))
  const dead = [...owners].filter((name) => name !== owner && !isAlive(name))
  if (dead.length === 0) return
  const released = await within(clock, limitMs, releaseOwners(database, dead))
  log.warn({ owners: dead, workflows: released }, 'workflows of ended processes were taken back')
}

async function claimOnce(engine: Engine): Promise<void> {
  const { clock, owner, kinds, leases, leaseSeconds, holds } = engine
  if (kinds.size === 0) return
  // Counted from before the statement: the database counts from a later moment, so our view of the
  // lease ends first.
  const now = clock.monotonic()
  const validUntil = now + safeMs(leaseSeconds)
  const holding = [...leases.keys(), ...holds.kept(justBegun(leases, now - (leaseSeconds * 1000) / 3))]
  const places = { ...shareOut(engine.maxRunning), limit: engine.places.free }
  const heldBack = [...kinds.values()].flatMap((workflow) => workflow.heldBack?.(engine.database) ?? [])
  const taking = { owner, leaseSeconds, ...places, kinds: [...kinds.keys()], holding, heldBack }
  const claimed = await within(clock, engine.limitMs, claim(engine.database, taking))
  holds.missed(new Set([...leases.keys(), ...claimed.map(({ id }) => id)]))
  if (claimed.length === 0) return
  failpoint('workflow.claimed')
  for (const row of claimed) launch(engine, row, validUntil)
}

const justBegun = (leases: Engine['leases'], since: number): Set<string> =>
  new Set([...leases.values()].filter(({ begunAt }) => begunAt > since).map(({ id }) => id))

function launch(engine: Engine, claimed: Claimed, validUntil: number): void {
  const { clock, counts, kinds, leases, log, places, runs } = engine
  const workflow = kinds.get(claimed.kind)
  if (!workflow) throw new Error(`claimed a workflow of the unknown kind "${claimed.kind}"`)
  const lease = new Lease(claimed.id, claimed.fence, validUntil, clock.monotonic())
  const startedAt = clock.monotonic()
  leases.set(claimed.id, lease)
  if (!claimed.is_resting) places.take(claimed.id, claimed.organization_id ?? '')
  counts.claimed++
  const about = { workflow: claimed.id, kind: claimed.kind, key: claimed.key, attempts: claimed.attempts }
  const run = runWorkflow({ ...engine, lease, claimed, workflow })
    .then((ending) => {
      counts[ending.state]++
      if (ending.state !== 'lost') engine.holds.forget(claimed.id)
      const isBug = ending.state === 'parked' || ending.state === 'failed'
      const level = isBug ? 'error' : ending.state === 'done' ? 'debug' : 'info'
      log[level]({ ...about, ...ending, ms: Math.round(clock.monotonic() - startedAt) }, 'workflow ended here')
    })
    .catch((error) => log.error({ err: error, ...about }, 'workflow could not be ended'))
    .finally(() => {
      leases.delete(claimed.id)
      runs.delete(run)
      places.leave(claimed.id)
      engine.wake.wake()
    })
  runs.add(run)
}
