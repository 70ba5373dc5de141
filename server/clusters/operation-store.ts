import type { ClusterState } from '@quayside/contract/enums.ts'
import type { ClusterLogStep } from '@quayside/contract/resources/cluster-parts.ts'
import type { Fragment, Sql } from '../database/index.ts'
import { engineNameOf } from './engine-name.ts'

export type OperationKind = 'DEPLOY' | 'UPGRADE' | 'DRY_RUN' | 'STOP' | 'DELETE'
export interface OperationRow {
  readonly id: string
  readonly cluster_id: string
  readonly execution_id: string
  readonly kind: OperationKind
  readonly triggered_by: string
  readonly former_status: ClusterState
  readonly created_at: Date
  readonly finished_at: Date | null
}

/**
 * Stores an operation and marks the cluster as waiting for it. The workflow with the same id must
 * exist.
 */
export async function insertOperation(sql: Sql, row: Omit<OperationRow, 'finished_at'>, number: number): Promise<void> {
  await sql`insert into cluster_operation ${sql({ ...row })}`
  await sql`update cluster set status = ${queued[row.kind]}, operation_number = ${number} where id = ${row.cluster_id}`
}

const queued: Readonly<Record<OperationKind, ClusterState>> = {
  DEPLOY: 'DEPLOYMENT_QUEUED',
  UPGRADE: 'DEPLOYMENT_QUEUED',
  DRY_RUN: 'DEPLOYMENT_QUEUED',
  STOP: 'STOP_QUEUED',
  DELETE: 'DELETE_QUEUED',
}

export async function findOperation(sql: Sql, id: string): Promise<OperationRow | undefined> {
  const [row] = await sql<OperationRow[]>`select * from cluster_operation where id = ${id}`
  return row
}

export async function setStatus(sql: Sql, clusterId: string, status: ClusterState): Promise<void> {
  await sql`update cluster set status = ${status} where id = ${clusterId}`
}

/**
 * Records that the cluster has the version `platformVersion` of the platform, and its current
 * settings. From its first deployment on, its engine runs services.
 */
export async function markDeployed(sql: Sql, clusterId: string, platformVersion: string, now: Date): Promise<void> {
  await sql`
    update cluster set status = 'DEPLOYED', last_deployment_date = ${now}, platform_version = ${platformVersion},
      engine = coalesce(engine, ${engineNameOf(clusterId)}),
      deployed_config_version = config_version
    where id = ${clusterId}`
}

export async function finishOperation(sql: Sql, id: string, now: Date): Promise<void> {
  await sql`update cluster_operation set finished_at = coalesce(finished_at, ${now}) where id = ${id}`
}

/** The ids of unfinished operations, as a part of a statement. */
export const unfinishedOperations = (sql: Sql): Fragment =>
  sql`select id from cluster_operation where finished_at is null`

export interface ClusterLogRow {
  readonly at: Date
  readonly step: ClusterLogStep
  readonly message: string
  readonly is_error: boolean
}

export async function insertLogLine(
  sql: Sql,
  { id: operation_id, cluster_id }: Pick<OperationRow, 'id' | 'cluster_id'>,
  line: ClusterLogRow,
): Promise<void> {
  await sql`insert into cluster_log ${sql({ operation_id, cluster_id, ...line })}`
}

/** Returns the last `count` lines, oldest first. */
export const listLogLines = (sql: Sql, clusterId: string, count: number) =>
  sql<ClusterLogRow[]>`
    select at, step, message, is_error from (
      select * from cluster_log where cluster_id = ${clusterId} order by seq desc limit ${count}
    ) l order by seq`
