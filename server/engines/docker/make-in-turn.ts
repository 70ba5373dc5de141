import type { Clock } from '../../lib/clock.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import type { Slots } from '../../lib/slots.ts'

/**
 * One that takes longer, as with an image whose volume is filled first, keeps nobody else waiting.
 */
const patienceMs = 100

/**
 * Makes containers one after the other: each is started as soon as it is made, and beside the
 * making of the next one. Docker is ready sooner with several that way than with all of them begun
 * at once (ADR 0033).
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
