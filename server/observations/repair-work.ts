import { silent } from '../lib/attempt.ts'
import type { Repair } from './decide.ts'
import type { WishRow } from './observation-store.ts'
import type { ObserverOptions } from './observer-options.ts'

/** What is to be done for a service. */
export interface Job {
  readonly wish: WishRow
  readonly repair: Repair
  /** Aborted only with this process, not when something else is wished. */
  readonly whole: AbortSignal
}

/** Brings what runs of a service to what is wished. Throws EngineError. */
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
  // What was told to end ends: adopted half-way by a start, it would be taken for running.
  const names = leaving.map(({ name }) => name)
  await endLeaving(wish, names, { signal: whole, output: silent })
}

/**
 * Ends what runs for a service that has no record. Its volumes stay: data is only removed by a
 * deletion.
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
