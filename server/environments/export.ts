import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Database } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { zip } from '../lib/zip.ts'
import { type EnvironmentMode, type EnvironmentRow, listEnvironments, type ProjectRow } from '../organizations/index.ts'
import { listServices, type RecordOf, type ServiceRow } from '../services/index.ts'
import { listOwnVariables, listProjectVariables, type OwnVariable } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import { listStages } from './stage-store.ts'
import type { ExportedEnvironment } from './terraform-environment.ts'
import { environmentFiles, projectFiles } from './terraform-files.ts'

export interface ExportOptions {
  readonly database: Database
  readonly clock: Clock
  readonly vault: Vault
  /** The services in API format, in the same order. */
  readonly records: (rows: readonly ServiceRow[]) => Promise<readonly RecordOf<KindName>[]>
}

/**
 * Exports environments and projects as a zip with a Terraform configuration for the public
 * provider. Secrets become variables without a value.
 */
export function createExport(options: ExportOptions) {
  const { database, clock, vault } = options
  return {
    /**
     * With `withSecrets` the values of secrets are in `terraform.tfvars`; AppError `sealed` is
     * thrown while the vault is sealed.
     */
    async environment(row: EnvironmentRow, withSecrets: boolean): Promise<Buffer> {
      const { exported, variables } = await readEnvironment(options, row)
      const texts = withSecrets ? await openTexts({ database, vault }, row.organization_id, variables) : new Map()
      return zip(environmentFiles(exported, row.project_id, texts), clock.now())
    },
    /** Leaves out environments of other modes, and environments in a copy or deletion. */
    async project(row: ProjectRow, mayRead: (mode: EnvironmentMode) => boolean): Promise<Buffer> {
      const rows = await listEnvironments(database, row.id)
      const environments: ExportedEnvironment[] = []
      for (const one of rows.filter(({ mode, deleting, copying }) => mayRead(mode) && !deleting && copying === null)) {
        environments.push((await readEnvironment(options, one)).exported)
      }
      const { organization_id, name, description } = row
      const variables = await listProjectVariables(database, row.id)
      return zip(projectFiles({ organization_id, name, description, variables, environments }, new Map()), clock.now())
    },
  }
}

async function readEnvironment({ database, records: recordsOf }: ExportOptions, environment: EnvironmentRow) {
  const rows = await listServices(database, environment.id)
  const records = await recordsOf(rows)
  const place = { projectId: environment.project_id, environmentId: environment.id }
  const variables = await listOwnVariables(
    database,
    place,
    rows.map(({ id }) => id),
  )
  const own = Map.groupBy(variables, ({ service_id }) => service_id)
  const { name, mode, cluster_id } = environment
  const exported: ExportedEnvironment = {
    name,
    mode,
    cluster_id,
    stages: await listStages(database, environment.id),
    services: rows.flatMap(({ kind }, index) => {
      const record = records[index]
      return record ? [{ kind, record, variables: own.get(record.id) ?? [] }] : []
    }),
    variables: own.get(null) ?? [],
  }
  return { exported, variables }
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
