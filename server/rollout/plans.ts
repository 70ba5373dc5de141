import { AppError, notFound } from '../lib/error.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import {
  changedNames,
  changedValues,
  changesOf,
  contentOfRelease,
  findRelease,
  imageOf,
  type ReleaseRow,
  type Versioned,
} from '../releases/index.ts'
import { findFormerRelease, readStatuses, refusalOf, type StatusRow } from '../requests/index.ts'
import { findService, listServices, type ServiceRow } from '../services/index.ts'
import { twinOf } from './built-before.ts'
import { readChartDiffs } from './chart-diffs.ts'
import { warningsOfCharts } from './chart-warnings.ts'
import { contentsOf } from './copied-release.ts'
import type { PlanChangesOptions } from './plan-changes.ts'
import { type PlanFacts, planService, type Version } from './plan-deployment.ts'
import { readStackPlans } from './stack-plans.ts'

export type PlansOptions = PlanChangesOptions

/**
 * Plans of requests. `act` does the real change, with all its checks, in a unit of work that is
 * rolled back afterwards. The plan reads the state that `act` leaves.
 */
export function createPlans(options: PlansOptions) {
  const { database } = options
  const plan = async (services: readonly ServiceRow[], former?: ReleaseRow, isCopy = false) => {
    const serviceIds = services.map(({ id }) => id)
    const statuses = new Map((await readStatuses(database, { serviceIds })).map((status) => [status.id, status]))
    const facts = services.map((service) => factsOf(options, service, statuses.get(service.id), { former, isCopy }))
    const stackPlans = await readStackPlans(options, services)
    // A diff is one of the present settings, not of a previous version.
    const chartDiffs = await readChartDiffs(database, former ? [] : services)
    const warnings = await warningsOfCharts(options, former ? [] : services)
    return (await Promise.all(facts)).map((one) => ({
      ...planService(one),
      stack_plan: stackPlans.get(one.id) ?? null,
      chart_diff: chartDiffs.get(one.id) ?? null,
      warnings: warnings.get(one.id) ?? [],
    }))
  }
  /** Returns which settings of a service a request changes, and what its deployment would do. */
  const change = async (service: ServiceRow, act: () => Promise<unknown>, former?: ReleaseRow) => {
    const before = await findService(database, service.id)
    await act()
    const after = await findService(database, service.id)
    if (!before || !after) throw notFound('service', service.id)
    const changed_settings = changedNames(editable(before), editable(after))
    return { changed_settings, services: await plan([after], former), refused: null }
  }

  return {
    /** Plans a change of settings and the service's next deployment. */
    edit: (service: ServiceRow, act: () => Promise<unknown>) => change(service, act),

    /** Plans a deployment of all services of an environment. */
    async deployEnvironment(environment: EnvironmentRow, act: () => Promise<unknown>) {
      const services = await plan(await listServices(database, environment.id), undefined, environment.copying !== null)
      return { changed_settings: [], services, refused: await refusal(act) }
    },

    /** Plans a rollback to the version of an execution. */
    rollback: async (service: ServiceRow, act: () => Promise<unknown>, executionId: string) =>
      change(service, act, await findFormerRelease(database, service, executionId)),
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

async function factsOf(
  options: PlansOptions,
  service: ServiceRow,
  status: StatusRow | undefined,
  { former, isCopy }: { readonly former: ReleaseRow | undefined; readonly isCopy: boolean },
): Promise<PlanFacts> {
  const { id, name, release_id, is_skipped } = service
  const release = release_id ? await findRelease(options.database, release_id) : undefined
  // A request for one service includes it even if deployments of its environment skip it.
  const leftOut =
    is_skipped && !former ? 'It is skipped in deployments of its environment.' : fillingText(service, isCopy)
  const skipped = leftOut ?? refusalOf(options, service)
  const contents = release && !skipped ? await contentsSince(options, service, release, former) : undefined
  const wanted = toVersion(former ?? service, service)
  const running = release && toVersion(release, service)
  return {
    id,
    name,
    // A rollback does not resolve the tag: its image is known.
    wanted: former && running ? { ...wanted, image: running.image } : wanted,
    running,
    changes: contents ? changesOf(...contents) : [],
    values: contents ? changedValues(...contents) : [],
    runningCommit: release?.commit?.id,
    isHealthy: status?.observed_state !== 'failing' && status?.observed_state !== 'absent',
    wasDeployed: service.last_deployment_date !== null,
    skipped,
    twin: former ? undefined : await twinOf(options.database, service),
    isRollback: former !== undefined,
  }
}

/**
 * Returns why a service without complete data is skipped. If its whole environment is being copied
 * it is not skipped: the deployment waits for the data.
 */
function fillingText({ copying, restoring }: ServiceRow, isCopy: boolean): string | undefined {
  if (restoring !== null) return 'It is being restored from a backup and is skipped until that has ended.'
  return copying === null || isCopy ? undefined : 'It is being copied and is skipped until its data are complete.'
}

const toVersion = (
  of: Pick<ServiceRow | ReleaseRow, 'kind' | 'settings' | 'advanced_settings'>,
  { origin }: ServiceRow,
): Version => {
  const { kind, settings, advanced_settings: advanced } = of
  // Kind and settings come from one row.
  return { kind, settings, advanced, image: imageOf({ kind, settings } as Versioned, origin) }
}

/** Returns the content of the running release, and of a deployment now or a previous version. */
async function contentsSince(
  options: PlansOptions,
  service: ServiceRow,
  release: ReleaseRow,
  former: ReleaseRow | undefined,
) {
  if (!former) return contentsOf(options, service, release)
  const reader = { ...options, publicPorts: { address: '' }, layerGiB: 0 }
  return [await contentOfRelease(reader, service, release), await contentOfRelease(reader, service, former)] as const
}
