import type { Slots } from '../lib/slots.ts'
import type { Work } from './recipe.ts'

/** Longer than any possible wait. */
const patienceSeconds = 7 * 24 * 3600

/**
 * Runs the work once a slot is free, round-robin across organizations. Waiting is a separate step,
 * so it shows in the history and does not use up the work's deadline. Without a wait there is no
 * such step.
 */
export async function inTurn<T>(
  { step, context, target, report, organizationId }: Work,
  { slots, name }: { readonly slots: Slots; readonly name: 'BUILD_QUEUEING' | 'DEPLOYMENT_QUEUEING' },
  work: () => Promise<T>,
): Promise<T> {
  const held: { slot?: Disposable | undefined } = { slot: slots.takeNow(organizationId) }
  if (!held.slot) {
    report.line('Waiting for its turn: the limit of simultaneous ones is reached.')
    const wait = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
      held.slot = await slots.take(signal, organizationId)
    }
    await step(`${target.service_id}/${name}`, wait, { deadlineSeconds: patienceSeconds })
  }
  // A step that was recorded before the server ended is not run again.
  using _ = held.slot ?? (await slots.take(context.signal, organizationId))
  return await work()
}
