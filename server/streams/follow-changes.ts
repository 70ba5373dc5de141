import type { Clock } from '../lib/clock.ts'
import type { StateChange, StateChanges } from '../state-changes/index.ts'

/** Changes that come within this time are told together. */
const togetherMs = 50

/**
 * Gives an empty set at once (look for the first time), then the environments where something changed, whenever something did. What
 * changes while nobody asks for the next set is in that set: no more waits than one.
 */
export async function* followChanges(
  { stateChanges, clock }: { readonly stateChanges: StateChanges; readonly clock: Clock },
  organizationId: string,
  concerns: (change: StateChange) => boolean,
  signal: AbortSignal,
): AsyncGenerator<ReadonlySet<string>> {
  let changed = new Set<string>()
  let wake = Promise.withResolvers<void>()
  const onAbort = (): void => wake.resolve()
  signal.addEventListener('abort', onAbort, { once: true })
  const following = await stateChanges.follow(organizationId, (change) => {
    if (!concerns(change)) return
    changed.add(change.data['environment_id'] ?? '')
    wake.resolve()
  })
  try {
    yield new Set()
    while (!signal.aborted) {
      await wake.promise
      await clock.sleep(togetherMs, signal).catch(() => {})
      if (signal.aborted) return
      const told = changed
      changed = new Set()
      wake = Promise.withResolvers()
      yield told
    }
  } finally {
    following.end()
    signal.removeEventListener('abort', onAbort)
  }
}
