import { silent } from '../lib/attempt.ts'
import type { Repair } from './decide.ts'
import type { WishRow } from './observation-store.ts'
import type { ObserverOptions } from './observer-options.ts'

/** A repair of one service. */
export interface Job {
  readonly wish: WishRow
  readonly repair: Repair
  /** Aborted only with this process, not when the desired state changes. */
  readonly whole: AbortSignal
}

/** Carries out a repair. Throws EngineError. */
export async function carryOut(
  { engine, log, restartRelease, moveTraffic, leave, endLeaving }: ObserverOptions,
  { wish, repair, whole }: Job,
  signal: AbortSignal,
): Promise<void> {
  const attempt = { signal, output: silent }
  const level = repair.kind === 'shrink' ? 'info' : 'warn'
  log[level]({ serviceId: wish.id, repair: repair.kind }, 'what runs differs from what should run; repairing it')
  if (repair.kind === 'retire') return engine.retire(wish.id, repair.keep, attempt)
  if (repair.kind === 'start') {
    const endpoints = (await restartRelease(wish, repair.release, attempt)) ?? []
    if (endpoints.length > 0) await moveTraffic(wish.id, repair.release, endpoints)
    return
  }
  const { staying, leaving } = repair
  if (!(await leave(wish, { staying, leaving }, signal))) return
  // Ends leaving replicas first. A start that adopts one would report it as running.
  const names = leaving.map(({ name }) => name)
  await endLeaving(wish, names, { signal: whole, output: silent })
}

/**
 * Ends the containers of a service that has no record. Its volumes stay, because only a deletion
 * removes data.
 */
export async function removeOrphan(
  { engine, log, isScratch }: ObserverOptions,
  service: string,
  signal: AbortSignal,
): Promise<void> {
  if (await isScratch(service)) return
  log.warn({ serviceId: service }, 'something runs for a service that does not exist; ending it')
  await engine.retire(service, undefined, { signal, output: silent })
}
