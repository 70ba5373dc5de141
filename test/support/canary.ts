import type { Tenant } from './fixture.ts'

/** Returns the value of every secret of a tenant. It must never appear in any output. */
export const canaryOf = (tenant: Pick<Tenant, 'name'>): string => `SECRET-CANARY-${tenant.name}`
