import { readSetting, type Sql, writeSetting } from '../database/index.ts'
import { AppError } from '../lib/error.ts'

/**
 * How many objects an organization may have. Each public service makes the route tables of all
 * routers larger, so one organization must not create without end.
 */
export interface CreationLimits {
  readonly projects: number
  readonly environments: number
  readonly services: number
  readonly [kind: string]: number
}

export const usualLimits: CreationLimits = { projects: 500, environments: 1_000, services: 2_000 }

/** The setting of the server with each limit. */
const limitSettings = {
  projects: 'QUAYSIDE_MOST_PROJECTS',
  environments: 'QUAYSIDE_MOST_ENVIRONMENTS',
  services: 'QUAYSIDE_MOST_SERVICES',
} as const
type LimitedKind = keyof typeof limitSettings

const key = 'creation_limits'

/** Stores the limits of this server. Each server does so at its start, the last one counts. */
export const saveCreationLimits = (sql: Sql, limits: CreationLimits): Promise<void> => writeSetting(sql, key, limits)

/**
 * Makes sure that an organization has room for so many more objects, until the transaction ends.
 * Objects of one organization are created one after the other, so that concurrent requests see each
 * other. Throws `conflict` with the limit and its setting. `parent` is the id of the organization,
 * project or environment in which they are created.
 */
export async function takeRoom(sql: Sql, kind: LimitedKind, parent: string, more = 1): Promise<void> {
  const most = { ...usualLimits, ...(await readSetting<CreationLimits>(sql, key)) }[kind]
  const [owner] = await owners[kind](sql, parent)
  if (!owner) return
  await sql`select pg_advisory_xact_lock(hashtextextended(${`creation ${owner.id}`}, 0))`
  const [row] = await counts[kind](sql, owner.id)
  if ((row?.count ?? 0) + more <= most) return
  throw new AppError(
    'conflict',
    `An organization has at most ${most} ${kind} (${limitSettings[kind]}). Delete some of them first.`,
  )
}

type Query<T> = (sql: Sql, id: string) => Promise<readonly T[]>

const owners: Readonly<Record<LimitedKind, Query<{ readonly id: string }>>> = {
  projects: async (_, id) => [{ id }],
  environments: (sql, id) => sql`select organization_id as id from project where id = ${id}`,
  services: (sql, id) => sql`
    select p.organization_id as id from environment e join project p on p.id = e.project_id where e.id = ${id}`,
}

const counts: Readonly<Record<LimitedKind, Query<{ readonly count: number }>>> = {
  projects: (sql, id) => sql`select count(*)::int as count from project where organization_id = ${id}`,
  environments: (sql, id) => sql`
    select count(*)::int as count from environment e join project p on p.id = e.project_id
    where p.organization_id = ${id}`,
  services: (sql, id) => sql`
    select count(*)::int as count from service s join environment e on e.id = s.environment_id
      join project p on p.id = e.project_id
    where p.organization_id = ${id}`,
}
