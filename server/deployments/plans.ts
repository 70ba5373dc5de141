import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { Secret } from '../lib/secret.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { findService, listServices, type ServiceRow } from '../services/index.ts'
import { loadResolved } from '../variables/index.ts'
import type { Vault } from '../vault/index.ts'
import { ownVariables } from './database-variables.ts'
import { openVariables } from './freeze.ts'
import { changedNames, type PlanFacts, planService } from './plan-deployment.ts'
import { refusalOf } from './refusal-of-kind.ts'
import { findRelease, type ReleaseRow } from './release-store.ts'

export interface PlansOptions {
  readonly database: Database
  readonly vault: Vault
}

/**
 * What requests would do. Each is made in a unit of work that is rolled back afterwards: `act` does the real thing there, with all
 * of its checks, and the plan tells from what it leaves.
 */
export function createPlans(options: PlansOptions) {
  const { database } = options
  const plan = async (services: readonly ServiceRow[]) =>
    (await Promise.all(services.map((service) => factsOf(options, service)))).map(planService)

  return {
    /** A change of settings, and what the next deployment of the service would do. */
    async edit(service: ServiceRow, act: () => Promise<unknown>) {
      const before = await findService(database, service.id)
      await act()
      const after = await findService(database, service.id)
      if (!before || !after) throw new AppError('notFound', 'There is no such object.')
      return {
        changed_settings: changedNames(editable(before), editable(after)),
        services: await plan([after]),
        refused: null,
      }
    },

    /** A deployment of all services of an environment. */
    async deployEnvironment(environment: EnvironmentRow, act: () => Promise<unknown>) {
      const services = await plan(await listServices(database, environment.id))
      return { changed_settings: [], services, refused: await refusal(act) }
    },
  }
}

export type Plans = ReturnType<typeof createPlans>

async function refusal(act: () => Promise<unknown>): Promise<string | null> {
  try {
    await act()
    return null
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
}

const editable = ({ name, description, settings }: ServiceRow): object => ({ ...settings, name, description })

async function factsOf(options: PlansOptions, service: ServiceRow): Promise<PlanFacts> {
  const { id, name, kind, settings, advanced_settings: advanced, release_id, is_skipped } = service
  const release = release_id ? await findRelease(options.database, release_id) : undefined
  const skipped = is_skipped ? 'It is skipped in deployments of its environment.' : refusalOf(service)
  const variables = await wantedVariables(options, service, release)
  return {
    id,
    name,
    wanted: { kind, settings, advanced, variables },
    running: release && (await runningVersion(options, service, release)),
    skipped,
  }
}

async function runningVersion(
  { database, vault }: PlansOptions,
  { organization_id: organizationId }: ServiceRow,
  release: ReleaseRow,
) {
  const { variables, files } = await openVariables(database, vault, organizationId, release)
  const { kind, settings, advanced_settings: advanced } = release
  return { kind, settings, advanced, variables: texts(Object.entries(variables), files) }
}

/** As a deployment of the same commit under the same id would get them, so that only real changes differ. */
async function wantedVariables(
  { database, vault }: PlansOptions,
  service: ServiceRow,
  release: ReleaseRow | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (!release) return new Map()
  const {
    id: serviceId,
    environment_id: environmentId,
    project_id: projectId,
    organization_id: organizationId,
  } = service
  const scope = { serviceId, environmentId, projectId, organizationId }
  const { request_id: id, commit } = release
  const resolved = await loadResolved(database, vault, scope, { id, ...(commit && { commit: commit.id }) })
  if (!resolved) throw new AppError('notFound', 'There is no such object.')
  const own = (await ownVariables(database, vault, service)) ?? resolved.variables
  return texts(
    [...own].map(([key, { value }]) => [key, value] as const),
    resolved.files,
  )
}

const reveal = (text: string | Secret): string => (text instanceof Secret ? text.reveal() : text)

/** They are compared, and only their names are told. */
const texts = (
  variables: readonly (readonly [string, string | Secret])[],
  files: readonly { readonly path: string; readonly content: string | Secret }[],
): ReadonlyMap<string, string> =>
  new Map([
    ...variables.map(([key, value]) => [key, reveal(value)] as const),
    ...files.map(({ path, content }) => [path, reveal(content)] as const),
  ])
