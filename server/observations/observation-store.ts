import type { ObservedState } from '@quayside/contract/running-states.ts'
import { chartKinds, taskKinds } from '@quayside/contract/services/kinds.ts'
import type { Sql } from '../database/index.ts'
import type { ChartPort, Observation, Replica } from '../engines/index.ts'
import { parseId } from '../lib/id.ts'
import { type Instances, mayScale, rangeOf, wantedReplicas } from '../scaling/index.ts'
import type { Wish } from './decide.ts'
import { reasonOf } from './reason-of.ts'

/** The stored desired state of a service. */
export interface WishRow extends Wish {
  readonly id: string
  readonly organization_id: string
  /** The engine of its cluster. */
  readonly engine: string | null
  /** Whether its number of replicas may change by load. `replicas` is the least then. */
  readonly may_scale: boolean
  /** Whether it is a task, which only its own reconcilers start. */
  readonly is_task: boolean
  /** Whether it is a Helm chart, whose objects only deployments change. */
  readonly is_chart?: boolean
  /** The public ports of the release, if it is a Helm chart. */
  readonly chart_ports?: readonly ChartPort[] | null
  /** Whether a running request acts on it. */
  readonly busy: boolean
  /** Why its version must not run. Null if it may. If set, `replicas` is 0. */
  readonly stop_reason: string | null
}

/**
 * Returns whether both wish for the same release and number, and no request acts on the service.
 */
export const isSame = (before: WishRow, now: WishRow): boolean =>
  !before.busy &&
  !now.busy &&
  before.release_id === now.release_id &&
  before.replicas === now.replicas &&
  before.stop_reason === now.stop_reason

type StoredWish = Omit<WishRow, 'replicas' | 'may_scale'> & Required<Instances> & { readonly scale: number | null }

/**
 * Lists the services that may need something from an engine: those of its clusters with a release
 * that should run or on which a running request acts, and those that the engine reported. Other
 * services cost nothing, however many there are. An id that is not a UUID belongs to no service.
 */
export function listWishes(sql: Sql, engine: string, reported: Iterable<string> = []): Promise<WishRow[]> {
  const ids = [...reported].flatMap((id) => parseId(id) ?? [])
  const here = sql`environment e on e.cluster_id = k.id and k.engine = ${engine}`
  return readWishes(
    sql,
    sql`select s.id from cluster k join ${here} join service s on s.environment_id = e.id where s.release_id is not null
      union select t.service_id from cluster k join ${here} join deployment_request r on r.environment_id = e.id
        join deployment_target t on t.request_id = r.id where r.status in ('ONGOING', 'CANCELING')
      union select unnest(${ids}::uuid[])`,
  )
}

/**
 * Lists a text for each engine, which differs if `listWishes` of the engine does, without reported
 * ids. Settings of a release never change.
 */
export const readWishMarks = (sql: Sql) => sql<{ engine: string; mark: string }[]>`
  with part as (
    select k.engine, hashtextextended(concat_ws(' ', s.id, s.release_id, c.replicas, f.reason), 0) as hash
    from service s join environment e on e.id = s.environment_id join cluster k on k.id = e.cluster_id
      left join service_scale c on c.service_id = s.id
      left join full_volume f on f.service_id = s.id and f.stopped_at is not null
    where s.release_id is not null and k.engine is not null
    union all
    select k.engine, hashtextextended(concat_ws(' ', r.id, t.service_id), 0)
    from deployment_request r join deployment_target t on t.request_id = r.id
      join environment e on e.id = r.environment_id join cluster k on k.id = e.cluster_id
    where r.status in ('ONGOING', 'CANCELING') and k.engine is not null
  )
  select engine, sum(hash)::text as mark from part group by engine`

/** Returns what should run of one service. Undefined if the service does not exist. */
export async function findWish(sql: Sql, id: string): Promise<WishRow | undefined> {
  const [row] = await readWishes(sql, sql`select ${id}::uuid as id`)
  return row
}

async function readWishes(sql: Sql, chosen: ReturnType<Sql>): Promise<WishRow[]> {
  const rows = await sql<StoredWish[]>`
    with chosen as (${chosen})
    select s.id, p.organization_id, k.engine, s.release_id, s.kind = any(${[...taskKinds]}) as is_task,
      s.kind = any(${[...chartKinds]}) as is_chart,
      case when s.kind = any(${[...chartKinds]}) then l.settings -> 'ports' end as chart_ports, exists (
      select from deployment_request r join deployment_target t on t.request_id = r.id
      where r.environment_id = s.environment_id and r.status in ('ONGOING', 'CANCELING') and t.service_id = s.id
    ) as busy, c.replicas as scale, f.reason as stop_reason,
      l.min_running_instances, l.max_running_instances
    from chosen join service s on s.id = chosen.id
      join environment e on e.id = s.environment_id join project p on p.id = e.project_id
      join cluster k on k.id = e.cluster_id
      left join release l on l.id = s.release_id left join service_scale c on c.service_id = s.id
      left join full_volume f on f.service_id = s.id and f.stopped_at is not null`
  return rows.map(({ scale, min_running_instances, max_running_instances, ...row }) => {
    const range = rangeOf({ min_running_instances, max_running_instances })
    const replicas = row.stop_reason !== null ? 0 : wantedReplicas(range, scale)
    return { ...row, replicas, may_scale: mayScale(range) }
  })
}

/**
 * Returns whether this release (or nothing) is still what should run, in this number if given, and
 * no request acts on the service.
 */
export async function isWished(
  sql: Sql,
  wish: Pick<WishRow, 'id' | 'release_id'> & Partial<Pick<WishRow, 'replicas'>>,
): Promise<boolean> {
  const now = await findWish(sql, wish.id)
  if (now === undefined || now.busy || now.release_id !== wish.release_id) return false
  return wish.replicas === undefined || wish.replicas === now.replicas
}

/**
 * Stores the newest observation of a service. Writes nothing if it is unchanged. Also writes
 * nothing if another release should run by now: an observation from before the end of a deployment
 * would make the new version look stopped. A service that runs with a reason is a warning.
 */
export async function insertObservation(
  sql: Sql,
  wish: Pick<WishRow, 'id' | 'release_id'>,
  observation: Observation,
  now: Date,
): Promise<void> {
  const { state, release, replicas, reason } = toStored(wish, observation)
  await sql`
    insert into observation (service_id, state, release_id, replicas, reason, observed_at)
    select ${wish.id}, ${state}, ${release}, ${sql.json(replicas)}, ${reason}, ${now}
    where exists (select from service where id = ${wish.id} and release_id is not distinct from ${wish.release_id})
    on conflict (service_id) do update set state = excluded.state, release_id = excluded.release_id,
      replicas = excluded.replicas, reason = excluded.reason, observed_at = excluded.observed_at
    where (observation.state, observation.release_id, observation.replicas, observation.reason)
      is distinct from (excluded.state, excluded.release_id, excluded.replicas, excluded.reason)`
}

/** The stored form of an observation. */
function toStored(wish: Pick<WishRow, 'release_id'>, observation: Observation) {
  const present = observation.state !== 'absent'
  // A service that should not run needs no reason for being absent.
  const reason = present || wish.release_id !== null ? reasonOf(observation) : null
  const state: ObservedState = observation.state === 'running' && reason !== null ? 'warning' : observation.state
  return {
    state,
    release: present && observation.release !== '' ? observation.release : null,
    replicas: present ? observation.replicas.map(toRecord) : [],
    reason,
  }
}

/** What is observed of a service, and where its desired release answers. */
interface Carried {
  readonly wish: { readonly id: string; readonly release_id: string }
  readonly seen: Observation
  readonly endpoints: readonly { readonly port: number; readonly address: string }[]
}

/**
 * Returns those of the services whose stored observation is this one, and whose hosts all lead to
 * these endpoints.
 */
export async function listCarriedOver(sql: Sql, services: readonly Carried[]): Promise<readonly string[]> {
  const rows = services.map(({ wish, seen, endpoints }) => ({
    ...toStored(wish, seen),
    id: wish.id,
    wished: wish.release_id,
    endpoints: endpoints.map(({ port, address }) => ({ port, address })),
  }))
  const found = await sql<{ id: string }[]>`
    select n.id from jsonb_to_recordset(${sql.json(rows)}) as n (id uuid, wished uuid, release uuid, state text,
      reason text, replicas jsonb, endpoints jsonb) join observation o on o.service_id = n.id
    where (o.state, o.release_id, o.replicas, o.reason) is not distinct from
        (n.state, n.release, n.replicas, n.reason)
      and not exists (select from route r where r.service_id = n.id and (
        r.release_id is distinct from n.wished or r.endpoints <> coalesce((
          select jsonb_agg(jsonb_build_object('address', e.address, 'port', e.port) order by e.address)
          from jsonb_to_recordset(n.endpoints) as e (port integer, address text) where e.port = r.internal_port
        ), '[]')))`
  return found.map(({ id }) => id)
}

/** The stored part of a replica. */
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
