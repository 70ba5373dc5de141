import type { Clock } from '../lib/clock.ts'
import type { StateChange, StateChanges } from '../state-changes/index.ts'

/** Changes within this time are reported together. */
const togetherMs = 50

/**
 * Yields an empty set at once, for a first look. Then yields the environments with changes,
 * whenever there are some. Changes during the processing of a set are combined into the next one.
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
  const listener = (change: StateChange): void => {
    if (!concerns(change)) return
    changed.add(change.data['environment_id'] ?? '')
    wake.resolve()
  }
  await stateChanges.follow(organizationId, listener)
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
    stateChanges.unfollow(organizationId, listener)
    signal.removeEventListener('abort', onAbort)
  }
}
