import type { CheckedDomainStatus } from '@quayside/contract/resources/custom-domain.ts'
import type { CustomDomainRecord } from './custom-domain-record.ts'
import { recordsText } from './proof.ts'

/** The DNS result of a name. */
export interface Resolved {
  /** The target of its CNAME record, without a trailing dot. */
  readonly alias?: string
  readonly addresses: readonly string[]
  /** Why the query failed, so that nothing is known. */
  readonly failure?: string
}

export interface CheckedDomain {
  readonly domain_name: string
  readonly status: CheckedDomainStatus
  readonly error_details: string | null
}

/** The platform's name of the service, and its addresses. */
export interface Target {
  readonly host: string
  /** Names of the organization's services. */
  readonly ownAliases: ReadonlySet<string>
  readonly resolved: Resolved
}

/**
 * Pure: returns whether a domain points to the platform, and what its proof lacks. Behind a CDN the
 * domain has the CDN's addresses, so it only has to resolve.
 */
export function judge(
  {
    domain,
    use_cdn,
    proof,
  }: Pick<CustomDomainRecord, 'domain' | 'use_cdn'> & {
    readonly proof: Pick<CustomDomainRecord['proof'], 'state' | 'message' | 'records'>
  },
  target: Target,
  found: Resolved,
): CheckedDomain {
  const answer = (status: CheckedDomainStatus, ...details: (string | null)[]): CheckedDomain => {
    const said = details.filter((detail) => detail !== null)
    return { domain_name: domain, status, error_details: said.length === 0 ? null : said.join(' ') }
  }
  const isProven = proof.state === 'PROVEN' || proof.state === 'LOST'
  const toSet = `The domain gets no traffic until one record proves that it is yours. ${recordsText(proof.records)}`
  const lost =
    proof.state === 'LOST' ? `DNS no longer proves that the domain is yours. ${recordsText(proof.records)}` : null
  if (found.failure !== undefined) return answer('GENERIC_FAILURE', found.failure, isProven ? lost : toSet)
  if (found.alias !== undefined && target.ownAliases.has(found.alias)) {
    return answer('MATCHES_LOAD_BALANCER_HOST', isProven ? null : waiting(proof))
  }
  if (found.alias === undefined && found.addresses.length === 0) {
    const create = `DNS has no record of ${domain}. Create a CNAME record to ${target.host}.`
    return answer(
      'DOMAIN_NOT_CONFIGURED',
      isProven ? create : `DNS has no record of ${domain}.`,
      isProven ? lost : toSet,
    )
  }
  const isOurs = found.addresses.some((address) => target.resolved.addresses.includes(address))
  if (found.addresses.length > 0 && (use_cdn || isOurs)) {
    return isProven ? answer('RESOLVES_TO_IP', lost) : answer('DOMAIN_NOT_CONFIGURED', toSet)
  }
  // The platform's name servers may know private addresses.
  const elsewhere = `${domain} leads to ${found.alias ?? 'another address'}. Point it to ${target.host} by a CNAME record.`
  return answer('DOMAIN_LINKED_TO_WRONG_HOST', elsewhere, isProven ? lost : toSet)
}

/** Pure: adds why HTTPS does not answer at a domain where certificates are made. */
export function withCertificate(
  checked: CheckedDomain,
  { certificate }: Pick<CustomDomainRecord, 'certificate'>,
): CheckedDomain {
  const { state, message } = certificate
  if (state === 'NOT_REQUESTED' || state === 'UNAVAILABLE' || message === null) return checked
  const details = [checked.error_details, `Certificate: ${message}`].filter((detail) => detail !== null)
  return { ...checked, error_details: details.join(' ') }
}

/** Returns the message for a correct record that was not checked yet or is blocked. */
const waiting = ({ state, message }: Pick<CustomDomainRecord['proof'], 'state' | 'message'>): string =>
  state === 'RELEASED'
    ? 'The record is right, but the domain was released. Save it again to have it checked.'
    : 'The record is right; traffic begins after the next ' +
      `check.${message === null ? '' : ` The last one said: ${message}`}`
