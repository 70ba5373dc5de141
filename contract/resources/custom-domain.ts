import { operation } from '../operation.ts'
import { certificateStates } from '../routes.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Timestamp, Type } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'

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
 * is. Otherwise the states of the certificate itself.
 */
export const domainCertificateStates = ['NOT_REQUESTED', 'UNAVAILABLE', ...certificateStates] as const
export type DomainCertificateState = (typeof domainCertificateStates)[number]

const Certificate = Type.Object({
  state: Enum(domainCertificateStates),
  message: Nullable(Type.String({ description: 'why it is not ready' })),
})

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
