import type { DomainCertificateState, ProofStateName } from '@quayside/contract/resources/custom-domain.ts'
import type { CustomDomainRow, UploadedColumns } from './custom-domain-store.ts'
import { type ProofState, recordsFor } from './proof.ts'
import type { TrafficPlace } from './route-store.ts'

/**
 * Returns a custom domain in API format. The public API has one status; `proof` has the details.
 */
export function toRecord(row: CustomDomainRow, place: DomainPlace) {
  const { host: validationDomain } = place
  const { id, created_at, updated_at, domain, generate_certificate, use_cdn } = row
  return {
    id,
    created_at,
    updated_at,
    domain,
    generate_certificate,
    use_cdn,
    validation_domain: validationDomain,
    status: 'VALIDATION_PENDING' as const,
    proof: {
      state: stateOf(row),
      method: row.proof,
      proven_at: row.proven_at,
      lost_since: row.lost_since,
      checked_at: row.asked_at,
      next_check_at: row.next_ask_at,
      message: row.finding,
      records: recordsFor(row, validationDomain),
    },
    certificate: certificateOf(row, place),
    uploaded_certificate: uploadedOf(row),
  }
}

function uploadedOf({
  uploaded_issuer: issuer,
  uploaded_fingerprint: fingerprint,
  uploaded_not_before: not_before,
  uploaded_not_after: not_after,
  uploaded_at,
}: UploadedColumns) {
  const hasAll = issuer !== null && fingerprint !== null && not_before && not_after && uploaded_at
  return hasAll ? { issuer, fingerprint, not_before, not_after, uploaded_at } : null
}

/** Where the service of a domain is reached. */
export interface DomainPlace extends Pick<TrafficPlace, 'issuer'> {
  /** Whether an ingress controller of the cluster carries its requests. */
  readonly hasController: boolean
  /** Whether the platform's own router speaks TLS. */
  readonly speaksTls: boolean
  /** Whether it can have a certificate for a host. */
  readonly certifies: (host: string) => boolean
  /** The platform's name of the service. */
  readonly host: string
}

/** Returns the state of a domain's certificate, and where none is made, why. Pure. */
export function certificateOf(
  {
    domain: name,
    generate_certificate,
    proof,
    certificate,
    uploaded_at,
  }: Pick<CustomDomainRow, 'domain' | 'generate_certificate' | 'proof' | 'certificate' | 'uploaded_at'>,
  { hasController, issuer, speaksTls, certifies }: Omit<DomainPlace, 'host'>,
): CertificateState {
  const answer = (state: DomainCertificateState, message: string | null) => ({ state, message })
  if (uploaded_at !== null) return uploadedState({ hasController, speaksTls }, proof, certificate)
  if (!generate_certificate) return answer('NOT_REQUESTED', null)
  if (!hasController && !speaksTls) return answer('UNAVAILABLE', withoutTls)
  if (!hasController && !certifies(name)) return answer('UNAVAILABLE', name.startsWith('*.') ? wildcard : unknown)
  if (hasController && issuer === null) return answer('UNAVAILABLE', withoutIssuer)
  if (proof === null) return answer('PENDING', 'The certificate is ordered once the domain is proven.')
  if (!certificate)
    return answer('PENDING', 'The certificate is ordered once a public HTTP port answers at the domain.')
  const { state, message } = certificate
  return answer(state, message && sentence(message))
}

interface CertificateState {
  readonly state: DomainCertificateState
  readonly message: string | null
}

/** Returns the state of an uploaded certificate. Pure. */
function uploadedState(
  { hasController, speaksTls }: Pick<DomainPlace, 'hasController' | 'speaksTls'>,
  proof: ProofState['proof'],
  certificate: CustomDomainRow['certificate'],
): CertificateState {
  if (hasController) return { state: 'UNAVAILABLE', message: uploadedElsewhere }
  if (!speaksTls) return { state: 'UNAVAILABLE', message: uploadedWithoutTls }
  if (proof === null) return { state: 'PENDING', message: 'The certificate is served once the domain is proven.' }
  if (!certificate) {
    return { state: 'PENDING', message: 'The certificate is served once a public HTTP port answers at the domain.' }
  }
  const { state, message } = certificate
  return { state: state === 'READY' ? 'UPLOADED' : state, message: message && sentence(message) }
}

const uploadedWithoutTls =
  'The certificate is not served: the router of the platform speaks HTTP only. The operator names a port for HTTPS ' +
  'by QUAYSIDE_ROUTER_TLS_PORT.'
const uploadedElsewhere =
  'The certificate is not served: the ingress controller of the cluster carries the requests of the domain.'

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

const withoutTls =
  'generate_certificate has no effect here: the router of the platform speaks HTTP only. The operator names a port ' +
  'for HTTPS by QUAYSIDE_ROUTER_TLS_PORT.'
const wildcard =
  'generate_certificate has no effect on *. names here: authorities check them in DNS only, which the platform may ' +
  'not change. Add the names that you need one by one, or the operator sets QUAYSIDE_ACME_DNS_KEY_FILE or ' +
  'QUAYSIDE_ACME_DNS_WEBHOOK.'
const unknown =
  'generate_certificate has no effect here: the certificate authority does not know names below this domain. ' +
  'The operator chooses another one by QUAYSIDE_ACME_DIRECTORY.'
const withoutIssuer =
  'generate_certificate has no effect here: the cluster has no issuer of certificates. An administrator names one by ' +
  'the advanced setting tls.cluster_issuer of the cluster.'

export type CustomDomainRecord = ReturnType<typeof toRecord>

function stateOf({ proof, lost_since, next_ask_at }: ProofState): ProofStateName {
  if (proof !== null) return lost_since === null ? 'PROVEN' : 'LOST'
  return next_ask_at === null ? 'RELEASED' : 'PENDING'
}
