import type { Database } from '../database/index.ts'
import { newId } from '../lib/id.ts'

/** Stores a running request that acts on the service. Returns a function that ends it. */
export async function beginRequest(sql: Database, environment: string, service: string): Promise<() => Promise<void>> {
  const id = newId()
  await sql`insert into workflow (id, kind, key, input) values (${id}, 'test', ${environment}, '{}')`
  await sql`
    insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
      created_at, updated_at, started_at)
    values (${id}, ${environment}, ${id}, 'DEPLOY', 'ONGOING', 'API', 'test', 'test', now(), now(), now())`
  await sql`
    insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      former_state)
    values (${id}, ${service}, 'application', 'app', '', 'stage', 1, 'DEPLOYING', 'READY')`
  return async () => void (await sql`update deployment_request set status = 'SUCCESS' where id = ${id}`)
}
