import type { Sql } from '../database/index.ts'
import { newId, newRandomId } from '../lib/id.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { checkOrigins, gitTokenOf } from './check-settings.ts'
import { publishedPort, routedPorts } from './kind-settings.ts'
import { givePassword } from './password.ts'
import { openSecrets, writeSecret } from './secrets.ts'
import { findService, insertService, type ServiceRow, setDataVersion, stageNameOf } from './service-store.ts'
import type { ServicesOptions } from './services.ts'
import type { Settings } from './settings/branch.ts'
import { formerPasswordName, passwordName } from './settings/database.ts'

export interface Clone {
  readonly from: ServiceRow
  readonly environment: Pick<EnvironmentRow, 'id' | 'organization_id'>
  readonly name: string
  /** The id of the copy; a new one if absent. */
  readonly id?: string
  /**
   * The data of the original will be copied. They bring its password, which changes when the copy
   * is first deployed.
   */
  readonly withData?: boolean
}

/**
 * Creates the rows of a copy and returns its id: settings, newly sealed secrets, variables and the
 * parts of the original. A copy has its own volumes, ports and password, and is in the stage of the
 * same name. Runs inside the caller's transaction.
 */
export async function cloneService(
  sql: Sql,
  options: Pick<ServicesOptions, 'vault' | 'clock' | 'declareHosts' | 'parts' | 'copyVariables' | 'claimDisk'>,
  { from, environment, name, withData = false, id = newRandomId() }: Clone,
): Promise<string> {
  const { vault, clock } = options
  const now = clock.now()
  const { kind, description } = from
  const organizationId = environment.organization_id
  const settings = withNewIds(from.settings)
  await checkOrigins(sql, { kind, organizationId, settings })
  const git_token_id = gitTokenOf(kind, settings)
  const row = { id, environment_id: environment.id, kind, name, description, settings, git_token_id }
  await insertService(sql, row, await stageNameOf(sql, from.stage_id), now)
  await options.claimDisk(sql, organizationId, { to: settings })
  const secrets = await openSecrets(sql, vault, { id: from.id, organizationId: from.organization_id })
  for (const [secret, text] of secrets) {
    if (secret === formerPasswordName) continue
    await writeSecret(sql, vault, { id, organizationId }, { name: secret, text: text.reveal(), now })
  }
  await givePassword(sql, options, { id, organizationId, kind })
  // The password that the data use: an original that was not deployed since it was copied still has
  // the one it came with.
  const former = secrets.get(formerPasswordName) ?? secrets.get(passwordName)
  if (withData && kind === 'database' && former) {
    await writeSecret(sql, vault, { id, organizationId }, { name: formerPasswordName, text: former.reveal(), now })
  }
  if (withData) await setDataVersion(sql, id, from.data_version)
  await options.parts.copy(sql, from.id, id, now)
  await options.declareHosts(sql, { id, kind, name, ports: routedPorts(settings), published: publishedPort(settings) })
  const to = await findService(sql, id)
  if (to) await options.copyVariables(sql, { from, to }, now)
  return id
}

/** Gives a copy its own ids of ports and volumes, because the engine names both by id. */
export function withNewIds(settings: Settings): Settings {
  const fresh = <T extends { readonly id: string }>(list: readonly T[]): T[] =>
    list.map((entry) => ({ ...entry, id: newId() }))
  if ('healthchecks' in settings && 'ports' in settings) {
    return { ...settings, ports: fresh(settings.ports), storage: fresh(settings.storage) }
  }
  return 'ports' in settings ? { ...settings, ports: fresh(settings.ports) } : settings
}
