import type { Tenant } from './fixture.ts'

/** What must never be seen again once it was handed in; every secret of a tenant holds its own. */
export const canaryOf = (tenant: Pick<Tenant, 'name'>): string => `SECRET-CANARY-${tenant.name}`
