import type { Slots } from '../lib/slots.ts'
import type { Work } from './recipe.ts'

/** Longer than anything that could be waited for. */
const patienceSeconds = 7 * 24 * 3600

/**
 * Does a service's work once one of the slots is free; organizations have turns. Waiting is a step
 * of its own, so that it is told and does not count for what the work may take; where nothing is
 * waited for, there is no such step.
 */
export async function inTurn<T>(
  { step, context, target, report, organizationId }: Work,
  { slots, name }: { readonly slots: Slots; readonly name: 'BUILD_QUEUEING' | 'DEPLOYMENT_QUEUEING' },
  work: () => Promise<T>,
): Promise<T> {
  const held: { slot?: Disposable | undefined } = { slot: slots.takeNow(organizationId) }
  if (!held.slot) {
    report.line('Waiting for its turn: as many as are allowed at the same time are under way.')
    const wait = async ({ signal }: { readonly signal: AbortSignal }): Promise<void> => {
      held.slot = await slots.take(signal, organizationId)
    }
    await step(`${target.service_id}/${name}`, wait, { deadlineSeconds: patienceSeconds })
  }
  // Recorded before the server ended, the step is not run again.
  using _ = held.slot ?? (await slots.take(context.signal, organizationId))
  return await work()
}
