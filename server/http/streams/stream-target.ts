import type { Operation } from '@quayside/contract/operation.ts'
import type { Stream, StreamTarget } from '@quayside/contract/streams.ts'
import { type Authorized, authorize, type Credential, placeOf, type TargetQuery } from '../../access/index.ts'
import { clusterTarget, findCluster } from '../../clusters/index.ts'
import type { Database } from '../../database/index.ts'
import { notFound } from '../../lib/error.ts'
import { environmentTarget, projectTarget } from '../../organizations/index.ts'
import { serviceTarget } from '../../services/index.ts'
import type { StreamCall } from '../../streams/index.ts'
import type { StreamQuery } from './stream-query.ts'

const queries: Readonly<Record<StreamTarget, TargetQuery>> = {
  service: serviceTarget(undefined),
  environment: environmentTarget,
  project: projectTarget,
  cluster: clusterTarget,
}

export interface AuthorizedStream {
  readonly authorized: Authorized
  readonly subject: StreamCall['subject']
  readonly organizationId: string
}

/**
 * Loads the narrowest object that the query names inside the caller's organization. Throws 404 if
 * the named objects do not belong together, and 403 if the caller lacks the right.
 */
export async function authorizeStream(
  database: Database,
  credential: Credential | undefined,
  { targets, access }: Stream,
  { query }: StreamQuery,
): Promise<AuthorizedStream> {
  const named = (name: string): string | undefined => {
    const value = query[name]
    return value === undefined ? undefined : String(value).toLowerCase()
  }
  const type = targets.find((candidate) => named(candidate) !== undefined)
  if (!type) throw notFound('object')
  const authorized = await authorize(database, credential, {
    access,
    query: queries[type],
    targetId: named(type),
    absent: (id) => notFound(type, id),
    place: (row) => placeOf({ target: type satisfies Operation['target'] }, row),
    someMode: type === 'project',
  })
  const row = authorized.target
  if (!row) throw notFound(type, named(type))
  const organizationId = String(row['organization_id'])
  const belongs = {
    organization: organizationId,
    project: row['project_id'],
    environment: row['environment_id'],
    cluster: row['cluster_id'],
    [type]: row['id'],
  }
  for (const [name, id] of Object.entries(belongs)) {
    const given = named(name)
    if (given !== undefined && id !== undefined && given !== id) throw notFound(name, given)
  }
  if (type === 'project') await requireCluster(database, organizationId, named('cluster'))
  // The query for the type returns rows of that type.
  return { authorized, subject: { type, row } as unknown as StreamCall['subject'], organizationId }
}

/** Throws 404 unless the cluster is in the organization. A project has no cluster of its own. */
async function requireCluster(database: Database, organizationId: string, id: string | undefined): Promise<void> {
  if (id !== undefined && !(await findCluster(database, organizationId, id))) throw notFound('cluster', id)
}
