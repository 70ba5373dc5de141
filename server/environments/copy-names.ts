import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { rewriteSettings, type ServiceRow } from '../services/index.ts'
import { copyVariables, findRename, type VariableCopy } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'

interface NameOptions {
  readonly vault: Vault
  readonly clock: Clock
}

/**
 * Copies variables and secrets. If a setting names a built-in variable of a copied service, its
 * copy names that of the copied service's copy.
 */
export async function copyNames(sql: Sql, options: NameOptions, copy: VariableCopy): Promise<void> {
  await copyVariables(sql, options, copy)
  await rewriteSettings(sql, [...copy.services.values()], await findRename(sql, copy))
}

/** Copies the variables and secrets of one service, without those of its environment. */
export const createServiceNameCopier =
  (options: NameOptions) =>
  (sql: Sql, { from, to }: { readonly from: ServiceRow; readonly to: ServiceRow }): Promise<void> =>
    copyNames(sql, options, {
      from: placeOf(from),
      to: placeOf(to),
      services: new Map([[from.id, to.id]]),
      withEnvironment: false,
    })

const placeOf = ({ organization_id, project_id, environment_id }: ServiceRow) => ({
  organizationId: organization_id,
  projectId: project_id,
  environmentId: environment_id,
})
