import { startDeadline } from '../lib/deadline.ts'
import { messageOf } from '../lib/error.ts'
import type { Logger } from '../lib/log.ts'
import { printable } from '../lib/text.ts'
import { RefusedError } from './authority.ts'
import { type CertificateName, hostIn, type NamedHost } from './certificate-name.ts'

/** How certificates and challenges reach the routers that use them. */
export interface Serving {
  /**
   * Returns once the routers of a host have the certificates and challenges of the database. The
   * host may be the wildcard of a cluster. Rejects if one cannot be reached.
   */
  readonly serve: (host: NamedHost, signal: AbortSignal) => Promise<unknown>
  /** Whose hosts are ordered. Routers of clusters may be away, which is a failed attempt. */
  readonly at: 'machine' | 'clusters'
}

/** The time limit of the routers of one cluster for a challenge. */
const clusterMs = 20_000
const longestReason = 500

/**
 * Returns once the routers of a host have its challenge. Throws RefusedError if the routers of a
 * cluster do not have it in time, and what `serve` throws for the router of this machine.
 */
export async function serveProof({ serve, at }: Serving, name: CertificateName, signal: AbortSignal): Promise<void> {
  const host = hostIn(name)
  if (at === 'machine') return void (await serve(host, signal))
  const deadline = startDeadline(clusterMs, signal)
  const { promise: late, reject } = Promise.withResolvers<never>()
  const over = (): void => reject(deadline.signal.reason)
  deadline.signal.addEventListener('abort', over, { once: true })
  try {
    // A cluster that hangs may not follow the signal.
    await Promise.race([serve(host, deadline.signal), late])
  } catch (error) {
    signal.throwIfAborted()
    const why = deadline.isOver ? `they did not answer within ${clusterMs / 1000} s` : messageOf(error)
    const reason = printable(why).slice(0, longestReason)
    throw new RefusedError(`The routers of the cluster do not have the challenge: ${reason}`)
  } finally {
    deadline.signal.removeEventListener('abort', over)
  }
}

/**
 * Returns once the routers of a host have its new certificate. The routers of a cluster that is
 * away get it with the next table, which is logged.
 */
export async function serveIssued(
  options: Serving & { readonly log: Logger },
  host: CertificateName,
  signal: AbortSignal,
): Promise<void> {
  try {
    await serveProof(options, host, signal)
  } catch (error) {
    if (signal.aborted || !(error instanceof RefusedError)) throw error
    options.log.warn({ host, reason: error.message }, 'certificate is sent to the routers of the cluster later')
  }
}
