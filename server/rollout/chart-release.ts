import { type ChartRelease, EngineError } from '../engines/index.ts'
import { inWorker } from '../lib/in-worker.ts'
import { Secret } from '../lib/secret.ts'
import { type ChartValues, openVariables, type ReleaseRow, type ValuesInput } from '../releases/index.ts'
import { findService } from '../services/index.ts'
import type { FetchedChart } from './chart-source.ts'
import type { Recipe, Work } from './recipe.ts'

/** How long a chart has if its settings say 0. */
const usualSeconds = 600

const reader = new URL('../releases/chart-values.ts', import.meta.url)

/** Returns a release of a chart as the engine takes it. Throws EngineError for bad values. */
export async function engineChart(
  options: Pick<Recipe, 'database' | 'vault'>,
  { organizationId }: Pick<Work, 'organizationId'>,
  row: ReleaseRow & { readonly kind: 'helm' },
  fetched: FetchedChart,
): Promise<ChartRelease> {
  const service = await findService(options.database, row.service_id)
  if (!service) throw new Error(`service ${row.service_id} is gone`)
  const { variables, secrets } = await openVariables(options.database, options.vault, organizationId, row)
  const { values_override: values, arguments: given, timeout_sec, allow_cluster_wide_resources, ports } = row.settings
  const input: ValuesInput = {
    files: [...fetched.values, ...(values.file?.raw?.values ?? [])],
    ...{ set: values.set, set_string: values.set_string, set_json: values.set_json },
    variables: Object.fromEntries(
      Object.entries(variables).map(([key, value]) => [key, value instanceof Secret ? value.reveal() : value]),
    ),
  }
  // The worker returns what the function of that name returns.
  const found = (await inWorker({ module: reader, name: 'valuesOfChart', argument: input })) as ChartValues
  if ('problem' in found) throw new EngineError('refused', `the values are wrong: ${found.problem}`)
  return {
    id: row.id,
    service: service.id,
    environment: service.environment_id,
    displayName: service.name,
    files: fetched.files,
    values: new Secret(found.json),
    secrets,
    arguments: given,
    timeoutSeconds: timeout_sec || usualSeconds,
    isClusterWide: allow_cluster_wide_resources,
    ports,
  }
}
