import type { HostCertificate } from '@quayside/contract/routes.ts'

/** What is known of a host's certificate and of the attempts to get one. */
export interface CertificateFacts {
  readonly not_after: Date | null
  readonly finding: string | null
  readonly due_at: Date
}

/**
 * Pure: returns the state of a host's certificate. Undefined facts: no attempt was planned yet. The
 * message names the last failure and the next attempt. `isLost`: names of its domain fail.
 */
export function stateOf(facts: CertificateFacts | undefined, now: Date, isLost = false): HostCertificate {
  if (!facts && isLost) return { state: 'FAILED', message: lost }
  if (!facts) return { state: 'PENDING', message: 'it is ordered within seconds' }
  const failure = facts.finding === null ? undefined : `${facts.finding} The next attempt is at ${iso(facts.due_at)}`
  if (facts.not_after === null) {
    return failure === undefined
      ? { state: 'PENDING', message: 'the certificate authority is making it' }
      : { state: 'FAILED', message: failure }
  }
  if (facts.not_after > now) {
    return { state: 'READY', message: failure === undefined ? null : `its renewal failed: ${failure}` }
  }
  const since = `it expired at ${iso(facts.not_after)}`
  return { state: 'EXPIRED', message: failure === undefined ? since : `${since}, and its renewal failed: ${failure}` }
}

const lost =
  'other names of the domain of the cluster failed, so it is ordered within an hour. The wildcard record of the ' +
  'domain must lead to the routers of the cluster'

const warningMs = 21 * 86_400_000

/** Pure: returns the state of an uploaded certificate. Warns three weeks before its end. */
export function uploadedStateOf(notAfter: Date, now: Date): HostCertificate {
  const remedy = 'upload the next one'
  if (notAfter <= now) return { state: 'EXPIRED', message: `it expired at ${iso(notAfter)}: ${remedy}` }
  const isNear = notAfter.getTime() - now.getTime() < warningMs
  return { state: 'READY', message: isNear ? `it expires at ${iso(notAfter)}: ${remedy}` : null }
}

const iso = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`
