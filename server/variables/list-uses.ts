import type { Static } from '@quayside/contract'
import { serviceTypeOf } from '@quayside/contract/enums.ts'
import type { VariableUses } from '@quayside/contract/resources/variable-use.ts'
import type { Database } from '../database/index.ts'
import { notFound } from '../lib/error.ts'
import { builtInsOf } from './built-ins.ts'
import { findFacts } from './facts-store.ts'
import { keysNamedIn } from './interpolate.ts'
import { apiScopeOf } from './record.ts'
import { chainOf, type EnvironmentScope, nameOf, type ProjectScope } from './scope.ts'
import { findUsed, type UseRow } from './use-store.ts'
import { usesOf } from './variable-uses.ts'

export type VariableUsesRecord = Static<typeof VariableUses>

/** The largest number of uses, and of keys in the links of services, in one reply. */
const most = 10_000

/**
 * Lists the variables that refer to a variable of the project or the environment. Variables of
 * environments whose mode `isVisible` refuses are left out. Throws AppError `notFound` if the scope
 * no longer exists.
 */
export async function listVariableUses(
  database: Database,
  scope: ProjectScope | EnvironmentScope,
  isVisible: (mode: string) => boolean,
): Promise<VariableUsesRecord> {
  const chain = chainOf(scope)
  const facts = await findFacts(database, chain)
  if (!facts) throw notFound(nameOf(scope.scope))
  const rows = await findUsed(database, chain)
  const seen = rows.filter(({ environment_mode: mode }) => mode === null || isVisible(mode))
  const variables = seen.map((row) => ({ ...row, named_keys: keysNamedIn(row.text ?? '') }))
  const builtIns = builtInsOf(facts).map(({ id, key, service }) => ({ id, key, ownerId: service?.id }))
  const byId = new Map(seen.map((row) => [row.id, row]))
  const { uses, links, isComplete } = usesOf({ variables, builtIns, environmentId: chain.environmentId }, most)
  return {
    results: uses.flatMap(({ id, kind, by }) => {
      const row = byId.get(by.id)
      return row ? [{ variable_id: id, kind, used_by: userOf(row) }] : []
    }),
    service_links: links.map((link) => ({ ...link, keys: [...link.keys] })),
    is_complete: isComplete && seen.every(({ text }) => text !== null),
  }
}

type User = VariableUsesRecord['results'][number]['used_by']

function userOf(row: UseRow): User {
  const { id, key, environment_id, environment_name, service_id, service_name, service_kind } = row
  const environment = environment_id === null ? undefined : { environment_id, environment_name: environment_name ?? '' }
  if (service_id === null || service_kind === null)
    return { id, key, scope: environment ? 'ENVIRONMENT' : 'PROJECT', ...environment }
  const service = { service_id, service_name: service_name ?? '', service_type: serviceTypeOf(service_kind) }
  return { id, key, scope: apiScopeOf(service_kind), ...environment, ...service }
}
