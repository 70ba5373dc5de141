import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { zip } from '../lib/zip.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { listServices, type RecordOf, type ServiceRow } from '../services/index.ts'
import { listOwnVariables, type OwnVariable } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import { listStages } from './stage-store.ts'
import { type Exported, terraformFiles } from './terraform-files.ts'

export interface ExportOptions {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  /** The services in API format, in the same order. */
  readonly records: (rows: readonly ServiceRow[]) => Promise<readonly RecordOf<KindName>[]>
}

/**
 * Returns the environment as a zip with a Terraform configuration for the public provider. Secrets
 * become variables without a value. With `withSecrets` their values are in `terraform.tfvars`;
 * AppError `sealed` is thrown while the vault is sealed.
 */
export const createExport =
  ({ database, clock, vault, records: recordsOf }: ExportOptions) =>
  async (environment: EnvironmentRow, withSecrets: boolean): Promise<Buffer> => {
    const rows = await listServices(database, environment.id)
    const records = await recordsOf(rows)
    const place = { projectId: environment.project_id, environmentId: environment.id }
    const variables = await listOwnVariables(
      database,
      place,
      rows.map(({ id }) => id),
    )
    const own = Map.groupBy(variables, ({ service_id }) => service_id)
    const { name, mode, project_id, cluster_id } = environment
    const exported: Exported = {
      environment: { name, mode, project_id, cluster_id },
      stages: await listStages(database, environment.id),
      services: rows.flatMap(({ kind }, index) => {
        const record = records[index]
        return record ? [{ kind, record, variables: own.get(record.id) ?? [] }] : []
      }),
      variables: own.get(null) ?? [],
      secrets: withSecrets ? await openTexts({ database, vault }, environment.organization_id, variables) : new Map(),
    }
    return zip(terraformFiles(exported), clock.now())
  }

async function openTexts(
  { database, vault }: Pick<ExportOptions, 'database' | 'vault'>,
  organizationId: string,
  variables: readonly OwnVariable[],
): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const { id, sealed_value } of variables) {
    if (sealed_value === null) continue
    const cell = { table: 'variable', row: id, column: 'sealed_value' }
    texts.set(id, (await vault.open(database, organizationId, cell, sealed_value)).reveal())
  }
  return texts
}
