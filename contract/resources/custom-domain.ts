import { operation } from '../operation.ts'
import { certificateStates } from '../routes.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Timestamp, Type } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'

/** The longest chain and private key of an upload, in characters. */
export const longestChain = 16_384
export const longestPrivateKey = 16_384

/** The states of the public API. */
export const customDomainStatuses = ['VALIDATION_PENDING'] as const
export const checkedDomainStatuses = [
  'RESOLVES_TO_IP',
  'MATCHES_LOAD_BALANCER_HOST',
  'DOMAIN_NOT_CONFIGURED',
  'DOMAIN_LINKED_TO_WRONG_HOST',
  'GENERIC_FAILURE',
] as const
export type CheckedDomainStatus = (typeof checkedDomainStatuses)[number]

/**
 * `LOST` means that DNS no longer has the proof. The domain keeps its traffic. `RELEASED` means
 * that the name was not proven in time.
 */
export const proofStates = ['PENDING', 'PROVEN', 'LOST', 'RELEASED'] as const
export type ProofStateName = (typeof proofStates)[number]
/** How a name was proven: by a DNS record, or without one for the named reason. */
export const proofMethods = ['CNAME', 'TXT', 'WAIVED', 'NO_PUBLIC_DNS', 'BEFORE_REQUIRED'] as const

/**
 * `NOT_REQUESTED` without `generate_certificate`. `UNAVAILABLE`: it does not act where the service
 * is. `UPLOADED`: the uploaded certificate is served. Otherwise the states of the certificate
 * itself.
 */
export const domainCertificateStates = ['NOT_REQUESTED', 'UNAVAILABLE', 'UPLOADED', ...certificateStates] as const
export type DomainCertificateState = (typeof domainCertificateStates)[number]

const Certificate = Type.Object({
  state: Enum(domainCertificateStates),
  message: Nullable(Type.String({ description: 'why it is not ready, or a warning before it expires' })),
})

const UploadedCertificate = Type.Object(
  {
    issuer: Type.String({ description: 'the common name of its issuer, or its whole name' }),
    fingerprint: Type.String({ description: 'SHA-256 of the certificate' }),
    not_before: Timestamp,
    not_after: Timestamp,
    uploaded_at: Timestamp,
  },
  { description: 'the certificate that a user uploaded; null: none' },
)

const Proof = Type.Object({
  state: Enum(proofStates),
  method: Nullable(Enum(proofMethods)),
  proven_at: Nullable(Timestamp),
  lost_since: Nullable(Timestamp),
  checked_at: Nullable(Timestamp),
  next_check_at: Nullable(Timestamp),
  message: Nullable(Type.String({ description: 'the missing records, as of the last DNS lookup' })),
  records: Type.Array(Type.Object({ type: Enum(['CNAME', 'TXT']), name: Type.String(), value: Type.String() }), {
    description: 'the records that prove the name; one of them is enough',
  }),
})

export const CustomDomain = Type.Object({
  ...base,
  domain: Type.String(),
  generate_certificate: Type.Boolean(),
  use_cdn: Type.Boolean(),
  validation_domain: Type.String({ description: 'the target of its CNAME record' }),
  status: Enum(customDomainStatuses),
  proof: Proof,
  certificate: Certificate,
  uploaded_certificate: Nullable(UploadedCertificate),
})
export const CustomDomainRequest = Type.Object({
  domain: Text(255, 1),
  generate_certificate: Type.Boolean(),
  use_cdn: Type.Optional(Type.Boolean()),
})
export const CheckedCustomDomain = Type.Object({
  domain_name: Type.String(),
  status: Enum(checkedDomainStatuses),
  error_details: Nullable(Type.String()),
})

export const UploadedCertificateRequest = Type.Object({
  chain: Text(longestChain, 1),
  private_key: Text(longestPrivateKey, 1),
})

/** The operations on custom domains of one kind of service. */
export function customDomainTemplates<const N extends KindName>(name: N) {
  const path = `${pathOf(name)}/customDomain` as const
  const one = onService(name, ' Custom Domain')
  const write = { ...one, access: 'write' } as const
  return {
    'list{Kind}CustomDomain': operation({
      ...one,
      method: 'GET',
      path,
      handler: 'listCustomDomains',
      access: 'read',
      summary: 'Lists the custom domains of a service, oldest first.',
      reply: Results(CustomDomain),
      status: 200,
    }),
    'create{Kind}CustomDomain': operation({
      ...write,
      method: 'POST',
      path,
      handler: 'createCustomDomain',
      event: { type: 'CREATE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
      summary:
        'Adds a custom domain for the default public port of a service. Traffic begins once DNS proves ' +
        'ownership. 409 if the name is taken.',
      body: CustomDomainRequest,
      reply: CustomDomain,
      status: 201,
    }),
    'check{Kind}CustomDomain': operation({
      ...one,
      method: 'GET',
      path: `${pathOf(name)}/checkCustomDomain`,
      handler: 'checkCustomDomains',
      access: 'read',
      summary:
        'Checks in DNS, for at most two seconds, whether the custom domains of a service point here, and ' +
        'names missing records.',
      reply: Results(CheckedCustomDomain),
      status: 200,
    }),
    'edit{Short}CustomDomain': operation({
      ...write,
      method: 'PUT',
      path: `${path}/{customDomainId}`,
      handler: 'editCustomDomain',
      event: { type: 'UPDATE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
      summary: 'Replaces a custom domain and verifies it at once. 409 if the name is taken.',
      body: CustomDomainRequest,
      reply: CustomDomain,
      status: 200,
    }),
    'delete{Short}CustomDomain': operation({
      ...write,
      method: 'DELETE',
      path: `${path}/{customDomainId}`,
      handler: 'deleteCustomDomain',
      event: { type: 'DELETE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
      summary: 'Deletes a custom domain and stops its traffic.',
      reply: NoBody,
      status: 204,
    }),
  }
}

const get = {
  method: 'GET',
  handler: 'getCustomDomain',
  access: 'read',
  reply: CustomDomain,
  status: 200,
} as const

/** Gets one custom domain. For applications and containers it is called the status. */
export const singleCustomDomainTemplates = <const N extends KindName>(name: N) => ({
  'get{Short}CustomDomainStatus': operation({
    ...onService(name, ' Custom Domain'),
    ...get,
    path: `${pathOf(name)}/customDomain/{customDomainId}/status`,
    summary: 'Returns a custom domain with the state of its verification.',
  }),
  'get{Kind}CustomDomain': operation({
    ...onService(name, ' Custom Domain'),
    ...get,
    path: `${pathOf(name)}/customDomain/{customDomainId}`,
    summary: 'Returns a custom domain.',
  }),
})

/** Uploaded certificates of custom domains. Not in the public API. */
export function domainCertificateTemplates<const N extends KindName>(name: N) {
  const one = {
    ...onService(name, ' Custom Domain'),
    path: `${pathOf(name)}/customDomain/{customDomainId}/certificate`,
    access: 'write',
    event: { type: 'UPDATE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
    reply: CustomDomain,
    status: 200,
    extension: true,
  } as const
  return {
    'upload{Kind}CustomDomainCertificate': operation({
      ...one,
      method: 'PUT',
      handler: 'uploadCustomDomainCertificate',
      summary:
        'Uploads a certificate for a custom domain, with its chain and private key in PEM format. It replaces an ' +
        'ordered one and is served at once. The key is never returned. 400 names what is wrong with it.',
      body: UploadedCertificateRequest,
    }),
    'delete{Kind}CustomDomainCertificate': operation({
      ...one,
      method: 'DELETE',
      handler: 'deleteCustomDomainCertificate',
      summary:
        'Deletes the uploaded certificate of a custom domain. With generate_certificate, the platform orders one ' +
        'again. 404 if there is none.',
    }),
  }
}
