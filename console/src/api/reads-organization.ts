import { queryOptions } from '@tanstack/react-query'
import { api } from './client.ts'

// The reads of the settings of an organization.

/** The beginning of the keys of everything that an organization has. */
export const inOrganization = (organizationId: string, ...what: readonly string[]) =>
  ['organization', organizationId, ...what] as const

export const members = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'members'),
    queryFn: async () => (await api.getOrganizationMembers({ organizationId })).results,
  })

export const invitations = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'invitations'),
    queryFn: async () => (await api.getOrganizationInvitedMembers({ organizationId })).results,
  })

/** The built-in roles, then the custom ones. */
export const roles = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'roles'),
    queryFn: async () => (await api.listOrganizationAvailableRoles({ organizationId })).results,
  })

export const customRoles = (organizationId: string) =>
  queryOptions({
    queryKey: inOrganization(organizationId, 'roles', 'custom'),
    queryFn: async () => (await api.listOrganizationCustomRoles({ organizationId })).results,
  })
