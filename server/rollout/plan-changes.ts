import type { Database, Sql } from '../database/index.ts'
import { changedNames, findRelease, type ReleaseRow } from '../releases/index.ts'
import type { RefusalOptions } from '../requests/index.ts'
import type { ServiceRow } from '../services/index.ts'
import type { OpenPlan } from '../stacks/index.ts'
import type { Vault } from '../vault/index.ts'
import { differences } from './copied-release.ts'

interface ContentOptions extends RefusalOptions {
  readonly database: Sql
  readonly vault: Vault
}

export interface PlanChangesOptions extends ContentOptions {
  readonly database: Database
  /** Returns the services whose branch is known to be ahead of their deployed commit. */
  readonly behind: (organizationId: string, services: readonly ServiceRow[]) => Promise<readonly ServiceRow[]>
}

/**
 * Lists what has changed since a plan was made, so that a deployment now would plan something else:
 * `setting timeout_sec`, `variable TOWN`, `commit`, `state`. Asks no git server.
 */
export async function changesSincePlan(
  options: PlanChangesOptions,
  service: ServiceRow,
  plan: OpenPlan,
): Promise<string[]> {
  const release = plan.release_id === null ? undefined : await findRelease(options.database, plan.release_id)
  if (!release) return ['version']
  const { commit, created_at: last_deployment_date } = release
  const asOfPlan = { ...service, deployed_commit: commit, last_deployment_date }
  const [changed, behind] = await Promise.all([
    contentChanges(options, service, release),
    options.behind(service.organization_id, [asOfPlan]),
  ])
  return [...changed, ...(behind.length > 0 ? ['commit'] : []), ...(plan.changed_by ? ['state'] : [])]
}

/** Lists the settings, variables and files that differ from those of a version. */
export async function contentChanges(options: ContentOptions, service: ServiceRow, release: ReleaseRow) {
  const names = (before: object, after: object) => changedNames(before, after).map((name) => `setting ${name}`)
  const given = await differences(options, service, release)
  return [
    ...names(release.settings, service.settings),
    ...names(release.advanced_settings, service.advanced_settings),
    ...given.filter((change) => /^(?:variable|file) /.test(change)),
  ]
}
