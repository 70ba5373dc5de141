import type { Sql } from '../database/index.ts'
import { type BuiltInFacts, builtInsOf } from './built-ins.ts'
import { findBases, findRowsOf, findRowsOfProject } from './copy-store.ts'
import { findFacts } from './facts-store.ts'
import type { NewRow } from './import-store.ts'
import type { Chain } from './scope.ts'

/** A variable or secret of a project, of an environment or of one of its services. */
export interface OwnVariable {
  readonly id: string
  /** Null if it belongs to the project or the environment itself. */
  readonly service_id: string | null
  readonly key: string
  readonly variable_type: NewRow['variable_type']
  readonly is_secret: boolean
  readonly value: string | null
  readonly sealed_value: string | null
  readonly mount_path: string | null
  readonly description: string
  /** The key of the base of an alias or override. */
  readonly base_key: string | undefined
}

/**
 * Lists the variables and secrets of an environment and of these services of it, with a fixed
 * number of statements.
 */
export async function listOwnVariables(
  sql: Sql,
  place: { readonly projectId: string; readonly environmentId: string },
  serviceIds: readonly string[],
): Promise<OwnVariable[]> {
  const rows = await findRowsOf(sql, serviceIds, place.environmentId)
  return withBases(sql, rows, { ...place, serviceId: null })
}

/** Lists the variables and secrets of a project itself. */
export const listProjectVariables = async (sql: Sql, projectId: string): Promise<OwnVariable[]> =>
  withBases(sql, await findRowsOfProject(sql, projectId), { projectId, environmentId: null, serviceId: null })

async function withBases(sql: Sql, rows: readonly NewRow[], place: Chain): Promise<OwnVariable[]> {
  const bases = await findBases(
    sql,
    rows.flatMap(({ base_id }) => base_id ?? []),
  )
  const facts = await findFacts(sql, place)
  const keys = new Map([...bases, ...builtIns(facts)].map(({ id, key }) => [id, key]))
  return rows.map((row) => {
    const { id, service_id, key, variable_type, is_secret, value, sealed_value, mount_path, description } = row
    const own = { id, service_id, key, variable_type, is_secret, value, sealed_value, mount_path, description }
    return { ...own, base_key: keys.get(row.base_id ?? row.base_built_in_id ?? '') }
  })
}

/** The built-in variables of the project and the environment, and each service's own. */
function builtIns(facts: BuiltInFacts | undefined) {
  if (!facts) return []
  const { project, environment } = facts
  if (!environment) return builtInsOf({ project })
  const alone = { ...environment, services: [] }
  return [
    ...builtInsOf({ project, environment }),
    ...environment.services.flatMap((service) => builtInsOf({ project, environment: alone, service })),
  ]
}
