import { AppError } from '../lib/error.ts'
import { isSeenInDns } from './claim.ts'
import { baseOf, isAtOrBelow } from './domain-name.ts'

export type DomainProof = 'required' | 'waived'
/**
 * The kind of a proof. `CNAME` and `TXT` were found in DNS. The others need no record, for the
 * reason in their name.
 */
export type ProofMethod = 'CNAME' | 'TXT' | 'WAIVED' | 'NO_PUBLIC_DNS' | 'BEFORE_REQUIRED'

/** The answer of DNS about the proof of one domain. */
export type Evidence =
  | { readonly proven: ProofMethod }
  /** `isKnown` is false when DNS did not answer. */
  | { readonly missing: string; readonly isKnown: boolean }

/** One DNS record. */
export interface DnsRecord {
  readonly type: 'CNAME' | 'TXT'
  readonly name: string
  readonly value: string
}

/** The columns of a custom domain that its proof changes. */
export interface ProofState {
  readonly proof: ProofMethod | null
  readonly proven_at: Date | null
  readonly lost_since: Date | null
  readonly pending_since: Date
  readonly next_ask_at: Date | null
  readonly asks: number
  readonly finding: string | null
}

const minuteMs = 60_000
const firstPauseMs = 5_000
const longestPauseMs = 15 * minuteMs
const provenPauseMs = 12 * 60 * minuteMs
const doubtPauseMs = 60 * minuteMs
/**
 * A name that is still unproven after this time is released. DNS is not checked again until someone
 * saves the domain.
 */
export const pendingMs = 7 * 24 * 60 * minuteMs

/** Names below these exist only on single machines (RFC 6761), so DNS cannot prove their owner. */
const withoutPublicDns = ['localhost', 'test'] as const

/** Returns why a domain needs no DNS record. Undefined if it needs one. */
export function assumedProof(domain: string, mode: DomainProof): ProofMethod | undefined {
  if (mode === 'waived') return 'WAIVED'
  return withoutPublicDns.some((zone) => isAtOrBelow(baseOf(domain), zone)) ? 'NO_PUBLIC_DNS' : undefined
}

/** Returns the value of the TXT record that proves a name for an organization. */
export const organizationText = (organizationId: string): string => `quayside-organization=${organizationId}`
export const textName = (base: string): string => `_quayside.${base}`

/** Returns the records that prove a domain. Any one of them is enough. */
export function recordsFor(
  { domain, organization_id }: { readonly domain: string; readonly organization_id: string },
  validationDomain: string,
): DnsRecord[] {
  return [
    { type: 'CNAME', name: domain, value: validationDomain },
    { type: 'TXT', name: textName(baseOf(domain)), value: organizationText(organization_id) },
  ]
}

/** Returns an instruction to set one of the records. */
export const recordsText = (records: readonly DnsRecord[]): string =>
  `Set ${records.map(({ type, name, value }) => `a ${type} record ${name} with the value ${value}`).join(', or ')}.`

/**
 * Reads a host name as one that the platform gave to a service, whatever the service was called:
 * returns the eight digits of its id, and the domain. Undefined for other names.
 */
export function serviceNameOf(host: string): { readonly digits: string; readonly domain: string } | undefined {
  const dot = host.indexOf('.')
  const label = host.slice(0, Math.max(0, dot))
  const digits = label.slice(-8)
  return label.at(-9) === '-' && label.length > 9 && /^[0-9a-f]{8}$/.test(digits)
    ? { digits, domain: host.slice(dot + 1) }
    : undefined
}

/** Returns the state of a domain that was just saved under a new name. */
export const newProof = (now: Date, assumed: ProofMethod | undefined): ProofState => ({
  proof: assumed ?? null,
  proven_at: assumed === undefined ? null : now,
  lost_since: null,
  pending_since: now,
  next_ask_at: assumed === undefined ? now : later(now, provenPauseMs),
  asks: 0,
  finding: null,
})

/**
 * Pure: returns the state of a domain after a DNS check. `isTaken` means that another organization
 * has proven it, or a name above or below it.
 */
export function nextProof(state: ProofState, evidence: Evidence, isTaken: boolean, now: Date): ProofState {
  if ('proven' in evidence && !(isTaken && state.proof === null)) {
    return {
      ...newProof(now, evidence.proven),
      pending_since: state.pending_since,
      proven_at: state.proven_at ?? now,
      next_ask_at: later(now, provenPauseMs),
    }
  }
  const finding = 'proven' in evidence ? takenText : evidence.missing
  if (state.proof === null) return stillPending(state, finding, now)
  const isLost = isSeenInDns(state.proof) && 'isKnown' in evidence && evidence.isKnown
  return {
    ...state,
    finding,
    lost_since: isLost ? (state.lost_since ?? now) : state.lost_since,
    next_ask_at: later(now, isSeenInDns(state.proof) ? doubtPauseMs : provenPauseMs),
  }
}

function stillPending(state: ProofState, finding: string, now: Date): ProofState {
  const asks = state.asks + 1
  const isOver = now.getTime() - state.pending_since.getTime() >= pendingMs
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(state.asks, 20))
  return { ...state, asks, finding, next_ask_at: isOver ? null : later(now, pauseMs) }
}

const takenText = 'Another organization has proven this name, or one above or below it. Choose another name.'

/** Creates the error for a name that another organization has proven. */
export const takenError = (domain: string, cause?: unknown): AppError =>
  new AppError(
    'conflict',
    `The domain "${domain}", or one above or below it, is in use already. Choose another name, or delete the ` +
      'other domain first.',
    cause === undefined ? {} : { cause },
  )

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
