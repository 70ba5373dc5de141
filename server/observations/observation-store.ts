import type { ObservedState } from '@quayside/contract/running-states.ts'
import { taskKinds } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import type { Observation, Replica } from '../engines/index.ts'
import { type Instances, rangeOf, wantedReplicas } from '../scaling/index.ts'
import type { Wish } from './decide.ts'
import { reasonOf } from './reason-of.ts'

/** What should run of a service, as it is stored. */
export interface WishRow extends Wish {
  readonly id: string
  readonly organization_id: string
  /** The engine of its cluster. */
  readonly engine: string | null
  /** It is run now and then, and nobody else starts it. */
  readonly is_task: boolean
  /** A running request acts on it. */
  readonly busy: boolean
  /** Why nothing of its version may run; null if it may. `replicas` is 0 then. */
  readonly stop_reason: string | null
}

/** Whether the same release in the same number is wished, and no request acts on it. */
export const isSame = (before: WishRow, now: WishRow): boolean =>
  !before.busy &&
  !now.busy &&
  before.release_id === now.release_id &&
  before.replicas === now.replicas &&
  before.stop_reason === now.stop_reason

type StoredWish = Omit<WishRow, 'replicas'> & Required<Instances> & { readonly scale: number | null }

/** Every service, or one. */
export async function listWishes(sql: Sql, id?: string): Promise<WishRow[]> {
  const rows = await sql<StoredWish[]>`
    select s.id, p.organization_id, k.engine, s.release_id, s.kind = any(${[...taskKinds]}) as is_task, exists (
      select from deployment_request r join deployment_target t on t.request_id = r.id
      where r.environment_id = s.environment_id and r.status in ('ONGOING', 'CANCELING') and t.service_id = s.id
    ) as busy, c.replicas as scale, f.reason as stop_reason,
      l.min_running_instances, l.max_running_instances
    from service s join environment e on e.id = s.environment_id join project p on p.id = e.project_id
      join cluster k on k.id = e.cluster_id
      left join release l on l.id = s.release_id left join service_scale c on c.service_id = s.id
      left join full_volume f on f.service_id = s.id and f.stopped_at is not null
    where ${id ?? null}::uuid is null or s.id = ${id ?? null}`
  return rows.map(({ scale, min_running_instances, max_running_instances, ...row }) => ({
    ...row,
    replicas:
      row.stop_reason !== null ? 0 : wantedReplicas(rangeOf({ min_running_instances, max_running_instances }), scale),
  }))
}

/**
 * Whether this release in this number (if told), or nothing, is still what should run, and no
 * request acts on the service.
 */
export async function isWished(
  sql: Sql,
  wish: Pick<WishRow, 'id' | 'release_id'> & Partial<Pick<WishRow, 'replicas'>>,
): Promise<boolean> {
  const [now] = await listWishes(sql, wish.id)
  if (now === undefined || now.busy || now.release_id !== wish.release_id) return false
  return wish.replicas === undefined || wish.replicas === now.replicas
}

/**
 * Keeps the newest observation of a service. Writes nothing when it says the same, or when another
 * release is wished by now: what was seen before a deployment ended would make the new version look
 * as if it did not run. What runs with a reason is a warning.
 */
export async function insertObservation(
  sql: Sql,
  wish: Pick<WishRow, 'id' | 'release_id'>,
  observation: Observation,
  now: Date,
): Promise<void> {
  const present = observation.state !== 'absent'
  const release = present ? observation.release : null
  // Nothing is missing where nothing is wished.
  const reason = present || wish.release_id !== null ? reasonOf(observation) : null
  const state: ObservedState = observation.state === 'running' && reason !== null ? 'warning' : observation.state
  const replicas = present ? observation.replicas.map(toRecord) : []
  await sql`
    insert into observation (service_id, state, release_id, replicas, reason, observed_at)
    select ${wish.id}, ${state}, ${release}, ${sql.json(replicas)}, ${reason}, ${now}
    where exists (select from service where id = ${wish.id} and release_id is not distinct from ${wish.release_id})
    on conflict (service_id) do update set state = excluded.state, release_id = excluded.release_id,
      replicas = excluded.replicas, reason = excluded.reason, observed_at = excluded.observed_at
    where (observation.state, observation.release_id, observation.replicas, observation.reason)
      is distinct from (excluded.state, excluded.release_id, excluded.replicas, excluded.reason)`
}

/** What is kept of a replica. */
const toRecord = ({ name, running, image, startedAt, finishedAt, exits, exitCode, outOfMemory }: Replica) => ({
  name,
  running,
  image,
  ...(startedAt && { startedAt: startedAt.toISOString() }),
  ...(finishedAt && { finishedAt: finishedAt.toISOString() }),
  exits,
  outOfMemory,
  ...(exitCode === undefined ? {} : { exitCode }),
})
