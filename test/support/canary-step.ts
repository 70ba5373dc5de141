import type { Database } from '../../server/database/index.ts'
import { newId } from '../../server/lib/id.ts'

/** Adds a running deployment of a service that is in its second canary step. Nothing runs. */
export async function addCanaryStep(database: Database, serviceId: string): Promise<void> {
  const [request, release] = [newId(), newId()]
  const counts = { one: { requests: 300, failed: 3, slow: 0 }, two: { requests: 20, failed: 0, slow: 0 } }
  await database.begin(async (sql) => {
    await sql`
      insert into workflow (id, kind, key, state, owner, lease_until, input)
      select ${request}, 'somebody else’s', environment_id, 'running', 'nobody', 'infinity', '{}'
      from service where id = ${serviceId}`
    await sql`
      insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
        created_at, updated_at, started_at)
      select ${request}, environment_id, ${request}, 'DEPLOY', 'ONGOING', 'API', 'test', 'test', now(), now(), now()
      from service where id = ${serviceId}`
    await sql`
      insert into release (id, service_id, request_id, created_at, config_version, settings, advanced_settings, image,
        variables)
      select ${release}, id, ${request}, now(), config_version, settings, advanced_settings,
        '{"reference": "image", "digest": "sha256:2"}', '{"variables": {}, "files": []}'
      from service where id = ${serviceId}`
    await sql`
      insert into canary (service_id, request_id, release_id, percent, steps, step_seconds, max_error_percent,
        is_promoted, endpoints, step, step_started_at, counts, requests_before, failed_before)
      values (${serviceId}, ${request}, ${release}, 25, '[5, 25, 50]', 60, 5, false,
        '[{"address": "192.0.2.1", "port": 80}]', 1, '2026-01-01T00:00:00Z', ${sql.json(counts)}, 100, 1)`
  })
}
