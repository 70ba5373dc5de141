import { taskKinds } from '@quayside/contract/services/kinds.ts'
import { type Database, inTransaction, type Sql } from '../database/index.ts'
import { writeState } from '../services/index.ts'
import type { Verdict } from './full-volumes.ts'

/** Selects the services on an engine's clusters, or on all engines if none is given. */
const servicesOn = (sql: Sql, engine: string | undefined) => sql`
  (select s.id from service s join environment e on e.id = s.environment_id join cluster c on c.id = e.cluster_id
    where ${engine ?? null}::text is null or c.engine = ${engine ?? null})`

/**
 * Returns the services of an engine with a volume far beyond its size: the stopped and the watched
 * ones.
 */
export async function readFullVolumes(
  sql: Sql,
  engine?: string,
): Promise<{ stopped: Set<string>; watched: Set<string> }> {
  const rows = await sql<{ service_id: string; is_stopped: boolean }[]>`
    select service_id, stopped_at is not null as is_stopped from full_volume
    where service_id in ${servicesOn(sql, engine)}`
  const ids = (isStopped: boolean): string[] =>
    rows.flatMap((row) => (row.is_stopped === isStopped ? row.service_id : []))
  return { stopped: new Set(ids(true)), watched: new Set(ids(false)) }
}

/** Stores the services that the engine's next measurement decides on. Skips stopped services. */
export async function writeWatched(sql: Sql, engine: string, watch: Verdict['watch'], now: Date): Promise<void> {
  await sql`
    delete from full_volume where stopped_at is null and service_id <> all(${[...watch.keys()]}::uuid[])
      and service_id in ${servicesOn(sql, engine)}`
  for (const [id, reason] of watch) {
    await sql`
      insert into full_volume (service_id, found_at, reason)
      select id, ${now}, ${reason} from service where id = ${id} and kind <> all(${[...taskKinds]})
      on conflict (service_id) do nothing`
  }
}

/**
 * Marks a service as stopped and sets its state. The observer then ends its containers. Returns
 * false and changes nothing if a request waits for or acts on the service, or if another version is
 * running.
 */
export const writeStopped = (
  database: Database,
  { id, release, reason }: { readonly id: string; readonly release: string; readonly reason: string },
  now: Date,
): Promise<boolean> =>
  inTransaction(database, async (sql) => {
    // A request that is being accepted changes the service's row, so it waits for this transaction.
    const [service] = await sql`select kind from service where id = ${id} and release_id = ${release} for update`
    if (!service) return false
    const { count } = await sql`
      insert into full_volume (service_id, found_at, stopped_at, reason)
      select ${id}, ${now}, ${now}, ${reason}
      where not exists (select from deployment_target where service_id = ${id} and finished_at is null)
        and not (${service['kind']}::text = any(${[...taskKinds]}))
      on conflict (service_id) do update set stopped_at = excluded.stopped_at, reason = excluded.reason`
    if (count > 0) await writeState(sql, { service: id, event: 'disk is full', to: 'DEPLOYMENT_ERROR' })
    return count > 0
  })

/**
 * Clears the decision after a deployment, or when the service should not run. Its volumes are then
 * judged from the start.
 */
export async function forgetFullVolume(sql: Sql, serviceId: string): Promise<void> {
  await sql`delete from full_volume where service_id = ${serviceId}`
}
