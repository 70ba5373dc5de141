import type { Sql } from '../database/index.ts'

/** The scope of a variable. */
export interface VariablePlace {
  readonly projectId: string
  readonly environmentId?: string | null
  readonly serviceId?: string | null
}

/** Whether a service within the scope takes the router's logins from a variable of this name. */
export async function hasLoginsFrom(sql: Sql, place: VariablePlace, name: string): Promise<boolean> {
  const { projectId, environmentId = null, serviceId = null } = place
  const rows = await sql`
    select from service s join environment v on v.id = s.environment_id
    where v.project_id = ${projectId} and (${environmentId}::uuid is null or v.id = ${environmentId}::uuid)
      and (${serviceId}::uuid is null or s.id = ${serviceId}::uuid)
      and s.advanced_settings ->> 'network.ingress.basic_auth_env_var' = ${name} limit 1`
  return rows.length > 0
}
