import type { Database } from '../../server/database/index.ts'
import { newId } from '../../server/lib/id.ts'

/** Returns the id of the execution that `addExecution` adds to a service. */
export const executionOf = (serviceId: string): string => `former-${serviceId}`

/** Adds a successful past deployment of the service with its current settings. Nothing runs. */
export async function addExecution(database: Database, serviceId: string): Promise<void> {
  const [request, release] = [newId(), newId()]
  await database.begin(async (sql) => {
    await sql`
      insert into workflow (id, kind, key, input, state)
      select ${request}, 'deployment', environment_id, '{}', 'done' from service where id = ${serviceId}`
    await sql`
      insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
        created_at, updated_at, started_at, finished_at)
      select ${request}, environment_id, ${executionOf(serviceId)}, 'DEPLOY', 'SUCCESS', 'API', 'test', 'test',
        now(), now(), now(), now()
      from service where id = ${serviceId}`
    await sql`
      insert into release (id, service_id, request_id, created_at, config_version, settings, advanced_settings, image,
        variables)
      select ${release}, id, ${request}, now(), config_version, settings, advanced_settings,
        '{"reference": "image", "digest": "sha256:1"}', '{"variables": {}, "files": []}'
      from service where id = ${serviceId}`
    await sql`
      insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      status,
        former_state, release_id, started_at, finished_at)
      select ${request}, id, kind, name, '', 'stage', 1, 'DEPLOYED', 'SUCCESS', 'READY', ${release}, now(), now()
      from service where id = ${serviceId}`
  })
}
