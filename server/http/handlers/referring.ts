import { type Caller, visible } from '../../access/index.ts'
import type { Sql } from '../../database/index.ts'
import { listReferringServices } from '../../services/index.ts'

/** Returns the services that refer to an object of the organization and that the caller may see. */
export async function referringServices(
  sql: Sql,
  caller: Caller,
  reference: Parameters<typeof listReferringServices>[1],
  id: string,
) {
  const services = await listReferringServices(sql, reference, id)
  const { environment } = visible(caller)
  return services.filter(({ project_id, environment_mode }) => environment(project_id, environment_mode))
}
