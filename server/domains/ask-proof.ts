import { startDeadline } from '../lib/deadline.ts'
import { newRandomId } from '../lib/id.ts'
import { baseOf } from './domain-name.ts'
import { assumedProof, type DomainProof, type Evidence, organizationText, type ProofMethod, textName } from './proof.ts'
import { registrableDomain } from './public-suffix.ts'
import { failureText, type NameServers } from './resolve.ts'

export interface ProofQuestion {
  readonly domain: string
  readonly organization_id: string
  readonly proof: ProofMethod | null
}

const askMs = 5_000

/**
 * Returns a name that represents all names of a wildcard. Its first label is random, so nobody can
 * prove a wildcard by controlling a few names of a domain.
 */
export const sampleOf = (domain: string): string =>
  domain === baseOf(domain) ? domain : `quayside-${newRandomId().replaceAll('-', '')}.${baseOf(domain)}`

export interface ProofOptions {
  readonly nameServers: NameServers
  readonly mode: DomainProof
  /** Whether the platform gave this host name to a service of the organization. */
  readonly isOwn: (organizationId: string, name: string) => Promise<boolean>
}

/** Asks DNS for at most five seconds whether a domain belongs to an organization. */
export async function askProof(
  { nameServers, mode, isOwn }: ProofOptions,
  { domain, organization_id, proof }: ProofQuestion,
  signal: AbortSignal,
): Promise<Evidence> {
  const assumed = assumedProof(domain, mode)
  if (assumed !== undefined) return { proven: proof ?? assumed }
  const { signal: deadline } = startDeadline(askMs, signal)
  const base = baseOf(domain)
  const places = [...new Set([base, registrableDomain(base) ?? base])].map(textName)
  try {
    const [[alias], ...texts] = await Promise.all([
      nameServers.records('CNAME', sampleOf(domain), deadline),
      ...places.map((place) => nameServers.records('TXT', place, deadline)),
    ])
    if (alias !== undefined && (await isOwn(organization_id, alias))) return { proven: 'CNAME' }
    if (texts.flat().some((text) => text.trim() === organizationText(organization_id))) return { proven: 'TXT' }
    return { missing: missingText(domain, alias, places), isKnown: true }
  } catch (error) {
    return { missing: failureText(error, deadline), isKnown: false }
  }
}

const missingText = (domain: string, alias: string | undefined, places: readonly string[]): string =>
  `${alias === undefined ? `${domain} has no CNAME record` : `The CNAME record of ${domain} points to ${alias}`}, and no TXT record at ${places.join(' or ')} names the organization.`
