import { startDeadline } from '../lib/deadline.ts'
import { everyOne } from '../lib/every-one.ts'
import { RefusedError, type RenewalWindow } from './authority.ts'
import { listAskable, storeWindow } from './certificate-store.ts'
import { moved, renewalIn } from './policy.ts'
import type { CertificateOptions } from './reconciler.ts'
import { scopeOf } from './scope.ts'

/** The certificates whose windows one run asks for. */
const mostAtOnce = 20
const askMs = 20_000
/** After a failure, and if the authority has no windows. */
const pauseMs = 6 * 3600_000

/**
 * Asks the authority when certificates should be renewed, each as often as it says. An authority
 * that revokes a certificate names a window in the past. Without an answer the date stays.
 */
export async function followWindows(options: CertificateOptions, signal: AbortSignal): Promise<void> {
  const { database, clock, log } = options
  const askable = await listAskable(database, scopeOf(options), { now: clock.now(), most: mostAtOnce })
  if (askable.length === 0) return
  const { renewalWindow } = await options.authority()
  await everyOne(
    askable.map(async ({ host, chain, ...made }) => {
      const found = await ask(renewalWindow, chain, signal).catch((error: unknown) => {
        if (signal.aborted || !(error instanceof RefusedError)) throw error
        log.info({ host, reason: error.message }, 'renewal window unknown')
        return undefined
      })
      const now = clock.now()
      const ask_at = moved(now, found ? found.askAgainSeconds * 1000 : pauseMs)
      const due_at = found ? renewalIn(host, found, made) : null
      await storeWindow(database, { host, due_at, ask_at })
    }),
  )
}

async function ask(
  renewalWindow: ((chain: string, signal: AbortSignal) => Promise<RenewalWindow | undefined>) | undefined,
  chain: string,
  signal: AbortSignal,
): Promise<RenewalWindow | undefined> {
  const deadline = startDeadline(askMs, signal)
  try {
    return await renewalWindow?.(chain, deadline.signal)
  } catch (error) {
    if (deadline.isOver) throw new RefusedError('The certificate authority did not answer in time.')
    throw error
  }
}
