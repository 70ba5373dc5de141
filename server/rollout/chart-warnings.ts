import type { Database } from '../database/index.ts'
import { referencesOf, type ValuesFile, type ValuesReference } from '../releases/index.ts'
import { refusalOf } from '../requests/index.ts'
import type { HelmSettings, ServiceRow } from '../services/index.ts'
import { loadResolved, type Resolved, ResolveError } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import type { PlanChangesOptions } from './plan-changes.ts'

/** Built-in variables of a deployment exist, whatever their values. */
const anyDeployment = { id: 'any', commit: 'any' }
/** More warnings are counted. */
const most = 20

/**
 * Returns the places in the values of a chart where an empty text stands, because a variable names
 * another one that does not exist, and the places that name no variable.
 */
export async function chartWarnings(
  { database, vault }: { readonly database: Database; readonly vault: Vault },
  service: Pick<ServiceRow, 'id' | 'environment_id' | 'project_id' | 'organization_id'>,
  { set, set_string, set_json, file }: HelmSettings['values_override'],
  fetched: readonly ValuesFile[] = [],
): Promise<readonly string[]> {
  const references = referencesOf({ set, set_string, set_json, files: [...fetched, ...(file?.raw?.values ?? [])] })
  if (references.length === 0) return []
  const scope = {
    ...{ serviceId: service.id, environmentId: service.environment_id },
    ...{ projectId: service.project_id, organizationId: service.organization_id },
  }
  try {
    const resolved = await loadResolved(database, vault, scope, anyDeployment)
    return resolved ? warningsOf(references, resolved) : []
  } catch (error) {
    if (error instanceof ResolveError) return [error.message]
    throw error
  }
}

/** Returns the warnings of the charts that can be deployed, by the id of the service. */
export async function warningsOfCharts(options: PlanChangesOptions, services: readonly ServiceRow[]) {
  const charts = services.flatMap((one) => (one.kind === 'helm' && refusalOf(options, one) === undefined ? [one] : []))
  const warned = charts.map(
    async (one) => [one.id, await chartWarnings(options, one, one.settings.values_override)] as const,
  )
  return new Map(await Promise.all(warned))
}

/** Pure: see `chartWarnings`. */
export function warningsOf(
  references: readonly ValuesReference[],
  { variables, missing }: Pick<Resolved, 'variables' | 'missing'>,
): readonly string[] {
  const all = references.flatMap(({ where, key }) => {
    if (!variables.has(key)) return [`${where} refers to the variable ${key}, which the service does not have.`]
    return (missing.get(key) ?? []).map(
      (name) =>
        `${where} refers to the variable ${key}, which contains {{${name}}}. No variable has that name, so an empty ` +
        'text stands in its place.',
    )
  })
  return all.length <= most ? all : [...all.slice(0, most), `There are ${all.length - most} more such places.`]
}
