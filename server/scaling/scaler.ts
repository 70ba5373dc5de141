import { type Database, inTransaction } from '../database/index.ts'
import { type EngineCapacity, type Observes, type Reachable, reconcilerName } from '../engines/index.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { lockService } from '../services/index.ts'
import type { Announcer } from './announcer.ts'
import { type Decision, decideReplicas, type Recommendation } from './recommend.ts'
import { mayScale, rangeOf, wantedReplicas } from './replicas.ts'
import { hasScaled, listRunning, putScale, type RunningRow } from './scaling-store.ts'
import { targetsOf } from './targets.ts'

export interface ScalerOptions extends Announcer {
  readonly database: Database
  /** The engine whose services it scales, by the name in clusters. */
  readonly name: string
  /**
   * All replicas of one service never get more CPU than its capacity, and all replicas of all
   * services never get more memory.
   */
  readonly engine: Observes & Pick<Reachable, 'capabilities' | 'capacity'>
  readonly clock: Clock
  readonly log: Logger
}

const everyMs = 15_000

/**
 * Adds replicas to services under load if their settings allow it, and removes them afterwards.
 * Leaves them alone on an engine that does this itself.
 */
export function createScaler(options: ScalerOptions): Reconciler {
  const { database, engine, clock, log } = options
  const histories = new Map<string, { readonly release: string; readonly history: readonly Recommendation[] }>()
  /** Services for which it was reported already. */
  const full = new Set<string>()
  const decide = async (row: RunningRow, room: number, signal: AbortSignal): Promise<Decision> => {
    const known = histories.get(row.id)
    const history = known?.release === row.release_id ? known.history : []
    const range = rangeOf(row.settings)
    const replicas = wantedReplicas(range, row.scale)
    const usage = await engine.usage(row.id, signal)
    const load = { ...range, replicas, room, usage, targets: targetsOf(row.kind, row.advanced_settings) }
    const decision = decideReplicas(load, history, clock.monotonic())
    histories.set(row.id, { release: row.release_id, history: decision.history })
    return decision
  }
  const tellFull = (row: RunningRow, isFull: boolean): void => {
    if (isFull && !full.has(row.id)) {
      log.warn({ serviceId: row.id }, 'a service needs more replicas than its cluster has room for')
    }
    if (isFull) full.add(row.id)
    else full.delete(row.id)
  }
  return {
    name: reconcilerName('scaling', options.name),
    everyMs,
    reconcile: async (signal) => {
      if (engine.capabilities.scalesByLoad) return
      const rows = (await hasScaled(database, options.name))
        ? await listRunning(database, { engine: options.name })
        : []
      const known = new Set(rows.map(({ id }) => id))
      for (const id of histories.keys()) if (!known.has(id)) histories.delete(id)
      const { capacity } = engine
      let free = capacity.memoryMiB - rows.reduce((sum, row) => sum + reservedMiB(row), 0)
      const looks = rows.filter(isScaled).map(async (row) => {
        const replicas = wantedReplicas(rangeOf(row.settings), row.scale)
        const { replicas: next, full: isFull } = await decide(row, roomFor(row, capacity, free), signal)
        tellFull(row, isFull)
        if (next === replicas) return
        if (!(await writeDown(options, row, next))) return
        free -= (next - replicas) * (row.settings.memory ?? 0)
        log.info({ serviceId: row.id, from: replicas, to: next }, 'the number of replicas was changed')
        options.changed(row.id, `Scaled from ${replicas} to ${next} replica(s) by load.`)
      })
      for (const look of await Promise.allSettled(looks)) if (look.status === 'rejected') throw look.reason
    },
  }
}

const isScaled = (row: RunningRow): boolean => !row.busy && mayScale(rangeOf(row.settings)) && row.scale !== 0

/** Stores the number only for this release, and only while no request acts on the service. */
async function writeDown({ database, clock }: ScalerOptions, row: RunningRow, replicas: number): Promise<boolean> {
  return inTransaction(database, async (sql) => {
    await lockService(sql, row.id)
    const [now] = await listRunning(sql, { id: row.id })
    if (!now || now.busy || now.release_id !== row.release_id || now.scale !== row.scale) return false
    await putScale(sql, row.id, replicas, clock.now())
    return true
  })
}

const reservedMiB = (row: RunningRow): number =>
  (row.settings.memory ?? 0) * wantedReplicas(rangeOf(row.settings), row.scale)

/** Returns the number of the service's replicas for which there is room, with the current ones. */
function roomFor(row: RunningRow, capacity: EngineCapacity, freeMiB: number): number {
  const { cpu = 0, memory = 0 } = row.settings
  const byCpu = cpu > 0 ? Math.floor(capacity.cpuMilli / cpu) : Number.POSITIVE_INFINITY
  const more = memory > 0 ? Math.max(0, Math.floor(freeMiB / memory)) : Number.POSITIVE_INFINITY
  return Math.min(byCpu, wantedReplicas(rangeOf(row.settings), row.scale) + more)
}
