import { type Caller, visible } from '../../access/index.ts'
import type { Sql } from '../../database/index.ts'
import { listReferringServices } from '../../services/index.ts'

/** The services that refer to something of the organization, as far as the caller may see them. */
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
