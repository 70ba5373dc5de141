import type { CheckedDomainStatus } from '@quayside/contract/resources/custom-domain.ts'

/** What DNS says of a name. */
export interface Resolved {
  /** The name that its CNAME record points to, without a closing dot. */
  readonly alias?: string
  readonly addresses: readonly string[]
  /** The question itself failed: nothing is known. */
  readonly failure?: string
}

export interface CheckedDomain {
  readonly domain_name: string
  readonly status: CheckedDomainStatus
  readonly error_details: string | null
}

/** Pure: whether a domain leads to the platform. Behind a CDN its addresses are those of the CDN: that it resolves is enough. */
export function judge(
  { domain, use_cdn }: { readonly domain: string; readonly use_cdn: boolean },
  target: { readonly host: string; readonly resolved: Resolved },
  found: Resolved,
): CheckedDomain {
  const answer = (status: CheckedDomainStatus, error_details: string | null = null): CheckedDomain => ({
    domain_name: domain,
    status,
    error_details,
  })
  if (found.failure !== undefined) return answer('GENERIC_FAILURE', found.failure)
  if (found.alias === target.host) return answer('MATCHES_LOAD_BALANCER_HOST')
  if (found.alias === undefined && found.addresses.length === 0) {
    return answer('DOMAIN_NOT_CONFIGURED', `DNS has no record of it: make a CNAME record to ${target.host}.`)
  }
  const isOurs = found.addresses.some((address) => target.resolved.addresses.includes(address))
  if (found.addresses.length > 0 && (use_cdn || isOurs)) return answer('RESOLVES_TO_IP')
  const elsewhere = found.alias ?? found.addresses.join(', ')
  return answer('DOMAIN_LINKED_TO_WRONG_HOST', `It leads to ${elsewhere}: make it a CNAME record to ${target.host}.`)
}
