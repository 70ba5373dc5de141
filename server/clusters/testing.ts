import type { Database } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { insertOrganization } from '../organizations/index.ts'
import { findCluster, insertBuiltInCluster } from './cluster-store.ts'
import type { NewCluster } from './clusters.ts'

export const owner = (id: string, billing_deployment_restriction: string | null = null) => ({
  id,
  billing_deployment_restriction,
})

/** A valid request for a cluster that is only a record. */
export const request = (name: string, change: Partial<NewCluster> = {}): NewCluster => ({
  name,
  region: 'eu-west-3',
  cloud_provider: 'AWS',
  kubernetes: 'SELF_MANAGED',
  ...change,
})

/** An organization with its built-in cluster. */
export async function addOrganization(database: Database): Promise<{ organizationId: string; builtIn: string }> {
  const [organizationId, builtIn, now] = [newId(), newId(), clock.now()]
  await insertOrganization(database, { id: organizationId, name: organizationId, now })
  await insertBuiltInCluster(database, { id: builtIn, organization_id: organizationId, name: 'local', now })
  return { organizationId, builtIn }
}

/** Returns the row as a request's target. */
export async function rowOf(database: Database, organizationId: string, id: string) {
  const row = await findCluster(database, organizationId, id)
  if (!row) throw new Error('the cluster does not exist')
  return row
}
