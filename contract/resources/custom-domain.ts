import { named, operation } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Results, Text, Type } from '../schema.ts'

export const customDomainStatuses = ['VALIDATION_PENDING'] as const
export const checkedDomainStatuses = [
  'RESOLVES_TO_IP',
  'MATCHES_LOAD_BALANCER_HOST',
  'DOMAIN_NOT_CONFIGURED',
  'DOMAIN_LINKED_TO_WRONG_HOST',
  'GENERIC_FAILURE',
] as const
export type CheckedDomainStatus = (typeof checkedDomainStatuses)[number]

export const CustomDomain = Type.Object({
  ...base,
  domain: Type.String(),
  generate_certificate: Type.Boolean(),
  use_cdn: Type.Boolean(),
  validation_domain: Type.String({ description: 'where its CNAME record has to point' }),
  status: Enum(customDomainStatuses),
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

/** Host names of users. `short` is how operations on one of them are called, which for applications have no noun. */
export function customDomainOperations<const K extends string, const S extends string, const N extends string>(
  noun: K,
  short: S,
  kind: N,
) {
  const path = `/${kind}/{${kind}Id}/customDomain` as const
  const onService = { target: 'service', kind, tag: `${noun} Custom Domain` } as const
  const write = { ...onService, access: 'write' } as const
  return {
    ...named(noun, {
      'list{Kind}CustomDomain': operation({
        ...onService,
        method: 'GET',
        path,
        handler: 'listCustomDomains',
        access: 'read',
        summary: 'Its custom domains, oldest first.',
        reply: Results(CustomDomain),
        status: 200,
      }),
      'create{Kind}CustomDomain': operation({
        ...write,
        method: 'POST',
        path,
        handler: 'createCustomDomain',
        event: { type: 'CREATE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
        summary: 'Lets its default public port answer under a further host name, at once. 409 when the name is taken.',
        body: CustomDomainRequest,
        reply: CustomDomain,
        status: 201,
      }),
      'check{Kind}CustomDomain': operation({
        ...onService,
        method: 'GET',
        path: `/${kind}/{${kind}Id}/checkCustomDomain`,
        handler: 'checkCustomDomains',
        access: 'read',
        summary: 'Asks DNS, for at most two seconds, whether its custom domains lead here.',
        reply: Results(CheckedCustomDomain),
        status: 200,
      }),
    }),
    ...named(short, {
      'edit{Kind}CustomDomain': operation({
        ...write,
        method: 'PUT',
        path: `${path}/{customDomainId}`,
        handler: 'editCustomDomain',
        event: { type: 'UPDATE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
        summary: 'Replaces a custom domain. 409 when the name is taken.',
        body: CustomDomainRequest,
        reply: CustomDomain,
        status: 200,
      }),
      'delete{Kind}CustomDomain': operation({
        ...write,
        method: 'DELETE',
        path: `${path}/{customDomainId}`,
        handler: 'deleteCustomDomain',
        event: { type: 'DELETE', target: 'SERVICE', sub: 'CUSTOM_DOMAIN' },
        summary: 'Removes a custom domain: nothing answers there any more.',
        reply: NoBody,
        status: 204,
      }),
    }),
  }
}

const one = {
  target: 'service',
  method: 'GET',
  handler: 'getCustomDomain',
  access: 'read',
  reply: CustomDomain,
  status: 200,
} as const

/** One custom domain: applications and containers have it as its status, Helm charts as itself. */
export const singleCustomDomainOperations = {
  getCustomDomainStatus: operation({
    ...one,
    path: '/application/{applicationId}/customDomain/{customDomainId}/status',
    kind: 'application',
    tag: 'Application Custom Domain',
    summary: 'A custom domain. What DNS says of it is told by checkCustomDomain.',
  }),
  getContainerCustomDomainStatus: operation({
    ...one,
    path: '/container/{containerId}/customDomain/{customDomainId}/status',
    kind: 'container',
    tag: 'Container Custom Domain',
    summary: 'A custom domain. What DNS says of it is told by checkCustomDomain.',
  }),
  getHelmCustomDomain: operation({
    ...one,
    path: '/helm/{helmId}/customDomain/{customDomainId}',
    kind: 'helm',
    tag: 'Helm Custom Domain',
    summary: 'One custom domain.',
  }),
} as const
