import { type ServiceType, serviceTypeOf } from '@quayside/contract/enums.ts'
import type { Sql } from '../database/index.ts'

/** The organization's objects that services can refer to. */
export type Reference = 'git_token_id' | 'container_registry_id' | 'helm_repository_id'

interface Row {
  readonly project_id: string
  readonly project_name: string
  readonly environment_id: string
  readonly environment_name: string
  readonly environment_mode: string
  readonly service_id: string
  readonly service_name: string
  readonly kind: string
  /** Null for kinds other than jobs. */
  readonly job_type: 'CRON' | 'LIFECYCLE' | null
}

export type ReferringType = Exclude<ServiceType, 'JOB'> | 'CRON' | 'LIFECYCLE'

/**
 * Lists the services that refer to this object, oldest first. Jobs are distinguished by their
 * schedule.
 */
export async function listReferringServices(sql: Sql, reference: Reference, id: string) {
  const rows = await sql<Row[]>`
    select p.id as project_id, p.name as project_name, e.id as environment_id, e.name as environment_name, e.mode as
    environment_mode,
      s.id as service_id, s.name as service_name, s.kind, s.job_type
    from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
    where s.${sql(reference)} = ${id} order by s.created_at, s.id`
  return rows.map((row) => ({ ...row, service_type: typeOf(row) }))
}

function typeOf({ kind, job_type }: Row): ReferringType {
  if (job_type) return job_type
  const type = serviceTypeOf(kind)
  // Jobs without a schedule cannot be created; one would run with its environment.
  return type === 'JOB' ? 'LIFECYCLE' : type
}
