import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'
import { inOrganization } from './reads-organization.ts'

export type AuditEvent = Awaited<ReturnType<typeof api.getOrganizationEvents>>['events'][number]
type Query = NonNullable<Parameters<typeof api.getOrganizationEvents>[0]['query']>

/** The types of events that people ask for. The API knows more. */
export const eventTypes = [
  'CREATE',
  'UPDATE',
  'DELETE',
  'ACCEPT',
  'EXPORT',
  'CLONE',
  'SHELL',
  'PORT_FORWARD',
  'TRIGGER_DEPLOY',
  'TRIGGER_REDEPLOY',
  'TRIGGER_STOP',
  'TRIGGER_RESTART',
  'TRIGGER_DELETE',
  'TRIGGER_CANCEL',
  'DEPLOYED',
  'DEPLOY_FAILED',
  'STOPPED',
  'DELETED',
] as const satisfies readonly Query['eventType'][]

export const targetTypes = [
  'ORGANIZATION',
  'MEMBERS_AND_ROLES',
  'PROJECT',
  'ENVIRONMENT',
  'APPLICATION',
  'CONTAINER',
  'DATABASE',
  'JOB',
  'HELM',
  'TERRAFORM',
  'CLUSTER',
  'CONTAINER_REGISTRY',
  'HELM_REPOSITORY',
  'WEBHOOK',
] as const satisfies readonly Query['targetType'][]

/** The part of an address that chooses events. Times are local, as fields of forms have them. */
export interface AuditSearch {
  readonly type?: string
  readonly target?: string
  readonly person?: string
  readonly from?: string
  readonly to?: string
  /** The token of the next, or of the previous page. */
  readonly next?: string
  readonly previous?: string
}

const names = ['type', 'target', 'person', 'from', 'to', 'next', 'previous'] as const

/** Pure: the parameters of an address that this page knows. */
export const auditSearchOf = (given: Readonly<Record<string, unknown>>): AuditSearch =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = given[name]
      return typeof value === 'string' && value !== '' ? [[name, value]] : []
    }),
  )

const momentOf = (local: string | undefined): string | undefined => {
  const time = local === undefined ? Number.NaN : Date.parse(local)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** Pure: the query of the API. Without a value there is no name. */
function queryOf({ type, target, person, from, to, next, previous }: AuditSearch): Query {
  const given = {
    pageSize: 30,
    eventType: eventTypes.find((one) => one === type),
    targetType: targetTypes.find((one) => one === target),
    triggeredBy: person,
    fromTimestamp: momentOf(from),
    toTimestamp: momentOf(to),
    continueToken: next,
    stepBackToken: previous,
  }
  // Entries without a value are left out, which the type of the result does not say.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Query
}

export const auditEvents = (organizationId: string, search: AuditSearch) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'audit', JSON.stringify(search)),
    queryFn: () => api.getOrganizationEvents({ organizationId, query: queryOf(search) }),
    placeholderData: keepPreviousData,
    // Anybody may change something at any time, and no event of the stream reports it.
    staleTime: 0,
  })

/** Pure: the token in the URL of another page. */
export const tokenIn = (link: string | undefined, name: 'continueToken' | 'stepBackToken'): string | undefined =>
  link === undefined ? undefined : (new URL(link, location.origin).searchParams.get(name) ?? undefined)
