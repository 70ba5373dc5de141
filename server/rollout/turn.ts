import { nobodyWaits } from '../lib/nobody-waits.ts'
import type { Slots } from '../lib/slots.ts'
import type { Recipe, Work } from './recipe.ts'

/** A start that takes longer than this mostly waits, and others begin beside it. */
const longestStartMs = 600_000

/** Longer than any possible wait. */
const patienceSeconds = 7 * 24 * 3600

/**
 * Runs the work once a slot is free, round-robin across organizations. Waiting is a separate step,
 * so it shows in the history, and neither uses up the work's deadline nor a place among the running
 * workflows. Without a wait there is no such step. Work that only waits from some moment on calls
 * `leave` then, and the next one has its turn.
 */
export async function inTurn<T>(
  { step, context, target, report, organizationId }: Work,
  { slots, name }: { readonly slots: Slots; readonly name: 'BUILD_QUEUEING' | 'DEPLOYMENT_QUEUEING' },
  work: (leave: () => void) => Promise<T>,
): Promise<T> {
  const held: { slot?: Disposable | undefined } = { slot: slots.takeNow(organizationId) }
  if (!held.slot) {
    report.line('Waiting for its turn: the limit of simultaneous ones is reached.')
    const wait = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
      held.slot = await slots.take(signal, organizationId)
    }
    await step(`${target.service_id}/${name}`, wait, { deadlineSeconds: patienceSeconds, rests: 'at once' })
  }
  // A step that was recorded before the server ended is not run again.
  using slot = held.slot ?? (await slots.take(context.signal, organizationId))
  return await work(() => slot[Symbol.dispose]())
}

/**
 * Starts something on the engine once a slot of its deployments is free. The slot is free again
 * when `start` calls `leave`, and after ten minutes even if it still works.
 */
export const startInTurn = <T>(
  { clock, slots }: { readonly clock: Recipe['clock']; readonly slots: Pick<Recipe['slots'], 'deployments'> },
  work: Work,
  start: (leave: () => void) => Promise<T>,
): Promise<T> =>
  inTurn(work, { slots: slots.deployments, name: 'DEPLOYMENT_QUEUEING' }, async (leave) => {
    const ended = new AbortController()
    clock.sleep(longestStartMs, ended.signal).then(leave, () => {})
    try {
      return await start(leave)
    } finally {
      ended.abort(nobodyWaits)
    }
  })
