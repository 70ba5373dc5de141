import type { Clock } from '../../lib/clock.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import type { Slots } from '../../lib/slots.ts'

/** How long one creation blocks the others. An image that first fills a volume may take longer. */
const patienceMs = 100

/**
 * Creates containers one after the other. Each can start as soon as it is created, while the next
 * one is being created. Docker finishes several containers sooner this way than all at once (ADR
 * 0033).
 */
export async function makeInTurn<T>(
  { making, clock }: { readonly making: Slots; readonly clock: Clock },
  signal: AbortSignal,
  make: () => Promise<T>,
): Promise<T> {
  using turn = await making.take(signal)
  const made = new AbortController()
  clock.sleep(patienceMs, made.signal).then(
    () => turn[Symbol.dispose](),
    () => {},
  )
  try {
    return await make()
  } finally {
    made.abort(nobodyWaits)
  }
}
