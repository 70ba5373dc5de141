import { isDeepStrictEqual } from 'node:util'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, notFound } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { checkName } from '../lib/text.ts'
import { nameTaken } from '../organizations/index.ts'
import { setGroups } from '../services/index.ts'
import { checkRegion, credentialsIn, infoRecord } from './cluster-credentials.ts'
import {
  type ClusterRow,
  type ClusterValues,
  findCluster,
  insertCluster,
  listClusters,
  lockCluster,
  updateCluster,
} from './cluster-store.ts'
import { type Capacity, clusterRecord, clusterStatus, isReady } from './record.ts'
import { lockedMessage } from './refusals.ts'
import { type CloudProviderInfoBody, type ClusterBody, changedSettings, creationRefusal } from './settings.ts'

export interface ClustersOptions {
  readonly database: Database
  readonly clock: Clock
  /** Returns the capacity of an engine by its name. */
  readonly ceilingOf: (engine: string) => Capacity
}
/** The organization of a cluster. */
export interface Owner {
  readonly id: string
  readonly billing_deployment_restriction: string | null
}
export type NewCluster = ClusterBody & Required<Pick<ClusterBody, 'name' | 'region' | 'cloud_provider'>>

export const existing = (row: ClusterRow | undefined, id: string): ClusterRow => {
  if (!row) throw notFound('cluster', id)
  return row
}

/** Returns the clusters of organizations in API format. */
export function createClusterRecords({ database, clock, ceilingOf }: ClustersOptions) {
  const find = async (sql: Sql, organizationId: string, id: string) =>
    existing(await findCluster(sql, organizationId, id), id)

  return {
    async list(organizationId: string) {
      return (await listClusters(database, organizationId)).map((row) => clusterRecord(row, ceilingOf))
    },
    async statuses(organizationId: string) {
      return (await listClusters(database, organizationId)).map(clusterStatus)
    },
    async status(organizationId: string, id: string) {
      return clusterStatus(await find(database, organizationId, id))
    },
    /** Whether services can be deployed to it. */
    async readiness(organizationId: string, id: string) {
      return { is_ready: isReady(await find(database, organizationId, id)) }
    },

    /** Throws AppError `conflict` for every cluster except the built-in one. */
    async requireDisk(organizationId: string, id: string): Promise<void> {
      const { engine, name } = await find(database, organizationId, id)
      if (engine === 'local') return
      const why = engine === null ? 'is a record without an engine' : 'is another machine'
      throw new AppError('conflict', `Cluster "${name}" ${why}, so it has no disk here.`)
    },

    /** Creates a record with the status READY. Nothing is created elsewhere. */
    async create(organization: Owner, body: NewCluster) {
      const { cloud_provider, kubernetes = 'MANAGED' } = body
      const refusal = creationRefusal(organization.billing_deployment_restriction, kubernetes)
      if (refusal) throw new AppError('conflict', refusal)
      const owned = { id: newId(), organization_id: organization.id, cloud_provider, kubernetes }
      const values = {
        name: checkName('name', body.name),
        description: body.description ?? '',
        region: body.region,
        production: body.production ?? false,
        settings: changedSettings({}, body, cloud_provider),
      }
      return inTransaction(database, async (sql) => {
        const info = body.cloud_provider_credentials
        if (info) checkRegion(info, body.region)
        const credentials_id = info ? await credentialsIn(sql, owned, info, 'cloud_provider_credentials.') : null
        await insertCluster(sql, { ...owned, ...values, credentials_id: credentials_id ?? null }, clock.now())
        await setGroups(sql, 'cluster', { ownerId: owned.id, organizationId: organization.id }, labelsOf(body))
        return clusterRecord(await find(sql, organization.id, owned.id), ceilingOf)
      }).catch(nameTaken('A cluster', values.name))
    },

    async edit(organizationId: string, id: string, body: ClusterBody) {
      return inTransaction(database, async (sql) => {
        const row = existing(await lockCluster(sql, organizationId, id), id)
        if (row.lock_reason !== null) throw new AppError('conflict', lockedMessage(row))
        const values = await changed(sql, row, body)
        const before = [
          row.region,
          row.production,
          row.credentials_id,
          changedSettings(row.settings, {}, row.cloud_provider),
        ]
        const after = [values.region, values.production, values.credentials_id, values.settings]
        await updateCluster(sql, id, values, { now: clock.now(), matters: !isDeepStrictEqual(before, after) })
        await setGroups(sql, 'cluster', { ownerId: id, organizationId }, labelsOf(body))
        return clusterRecord(await find(sql, organizationId, id), ceilingOf)
      }).catch(nameTaken('A cluster', body.name))
    },

    async cloudProviderInfo(organizationId: string, id: string) {
      return infoRecord(await find(database, organizationId, id))
    },

    async setCloudProviderInfo(organizationId: string, id: string, body: CloudProviderInfoBody) {
      return inTransaction(database, async (sql) => {
        const row = existing(await lockCluster(sql, organizationId, id), id)
        const wanted = await credentialsIn(sql, row, body, '')
        const region = body.region ?? row.region
        const credentials_id = wanted === undefined ? row.credentials_id : wanted
        const settings = changedSettings(row.settings, {}, row.cloud_provider)
        const values = { ...pickValues(row), settings, region, credentials_id }
        await updateCluster(sql, id, values, { now: clock.now(), matters: true })
        return infoRecord(await find(sql, organizationId, id))
      })
    },
  }
}

const pickValues = ({ name, description, region, production, credentials_id }: ClusterRow) => ({
  name,
  description,
  region,
  production,
  credentials_id,
})
const labelsOf = ({ labels_groups }: ClusterBody) => ({ labels_groups })

/** Fields that cannot be changed. */
async function changed(sql: Sql, row: ClusterRow, body: ClusterBody): Promise<ClusterValues> {
  for (const field of ['cloud_provider', 'kubernetes'] as const) {
    if (body[field] !== undefined && body[field] !== row[field]) {
      throw new AppError('invalid', `${field} cannot be changed. Cluster "${row.name}" has ${row[field]}.`)
    }
  }
  const info = body.cloud_provider_credentials
  const region = body.region ?? row.region
  if (info) checkRegion(info, region)
  const wanted = info ? await credentialsIn(sql, row, info, 'cloud_provider_credentials.') : info
  return {
    name: body.name === undefined ? row.name : checkName('name', body.name),
    description: body.description === undefined ? row.description : (body.description ?? ''),
    region,
    production: body.production === undefined ? row.production : (body.production ?? false),
    settings: changedSettings(row.settings, body, row.cloud_provider),
    credentials_id: wanted === undefined ? row.credentials_id : wanted,
  }
}
