import type { KindName } from '@quayside/contract/services/kinds.ts'
import type { Action } from '@quayside/contract/states.ts'
import { isAtRest } from '@quayside/contract/states.ts'
import { inTransaction } from '../database/index.ts'
import { type GitDriver, GitError } from '../git/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { deleteEnvironmentRow, type EnvironmentRow, markEnvironmentDeleting } from '../organizations/index.ts'
import { checkForced, pinnedRepositoryOf, type ReleaseRow, valuesRepositoryOf } from '../releases/index.ts'
import { deleteServiceRow, findService, listServices, lockService, type ServiceRow } from '../services/index.ts'
import type { Workflows } from '../workflows/index.ts'
import { cancelDeployment } from './cancel.ts'
import { type RefusalOptions, refusalOf, refuseKind } from './refusal-of-kind.ts'
import { acceptRequest, type RequestedBy, type RequestOptions } from './request.ts'
import { listActiveRequests, lockEnvironment } from './request-store.ts'
import { findFormerRelease, rollbackNote } from './rollback.ts'
import { type ReadGitCredential, repositoryOf, TokenPlaceError } from './source.ts'
import { acceptedStatus, serviceStatus } from './status.ts'
import type { WantedTarget } from './target-store.ts'
import { type PlanToApply, planOf, refuseChartVersion, takeTag, type WantedVersion } from './wanted-version.ts'
import { cancelForCopies } from './withdraw.ts'

export interface DeploymentsOptions extends RequestOptions, RefusalOptions {
  readonly workflows: Pick<Workflows, 'submission' | 'nudge' | 'requestCancel'>
  readonly git: GitDriver
  readonly readCredential: ReadGitCredential
  /**
   * Restores the settings of a previous version and returns the service. Throws 409 if they cannot
   * be restored.
   */
  readonly restoreSettings: (service: ServiceRow, former: ReleaseRow) => Promise<ServiceRow>
  readonly planToApply: PlanToApply
}

/** The options of a deployment of one service. */
type Asked = Partial<Omit<WantedTarget, 'service'>>

/**
 * The timeout of the commit check. A slow repository does not cause a rejection; the deployment
 * then fails with its reason.
 */
const commitCheckMs = 5000

/** Creates the actions. Each writes a request and returns; the workflow does the work. */
export function createDeployments(options: DeploymentsOptions) {
  const { database } = options
  const environmentOf = (service: ServiceRow) => ({ id: service.environment_id, name: service.environment_name })

  /** Writes a request. Returns it in the terms of the specification, with the current status. */
  const act = async (service: ServiceRow, action: Action, by: RequestedBy, asked: Asked = {}) => {
    const targets = [{ service, commit: undefined, ...asked }]
    const wish = { environment: environmentOf(service), action, targets, by }
    const accepted = await acceptRequest(options, wish)
    const { id, created_at } = accepted
    const status =
      acceptedStatus(service, { ...asked, action }, accepted) ?? (await serviceStatus(database, service.id))
    if (!status) throw notFound('service', service.id)
    return { ...status, id, status: 'QUEUED' as const, ...namedId(service), created_at }
  }
  const ofEnvironment = async (
    environment: EnvironmentRow,
    action: Action,
    chosen: readonly ServiceRow[],
    by: RequestedBy,
    asked: Asked = {},
  ) => {
    if (chosen.length === 0) return
    const targets = chosen.map((service) => ({ service, commit: undefined, ...asked }))
    await acceptRequest(options, { environment, action, targets, by, isWhole: true })
  }

  return {
    /**
     * Deploys a service. A commit is checked against the repository at once. The head of a branch
     * is resolved when the request runs.
     */
    async deploy(service: ServiceRow, by: RequestedBy, wanted: WantedVersion = {}) {
      refuseKind(options, service)
      refuseChartVersion(service, wanted.chart)
      const commit = wanted.commit ? await checkCommit(options, service, wanted.commit) : undefined
      const { valuesCommit: values } = wanted
      const valuesCommit = values ? await checkCommit(options, service, values, valuesField) : undefined
      const current = wanted.tag ? await takeTag(options, service, wanted.tag) : service
      const { forceEvent } = wanted
      if (forceEvent) checkForced(current, forceEvent)
      const ofStack = await planOf(options, current, { ...wanted, ...(commit !== undefined && { commit }) })
      return act(current, 'DEPLOY', by, { commit, valuesCommit, forceEvent, ...ofStack })
    },

    /**
     * Deploys the commit or image again that is deployed when the request runs. A service that was
     * never deployed is deployed by its settings.
     */
    async redeploy(
      service: ServiceRow,
      by: RequestedBy,
      asked: Pick<WantedVersion, 'forceEvent' | 'stackAction'> = {},
    ) {
      const { forceEvent, stackAction } = asked
      refuseKind(options, service)
      if (forceEvent) checkForced(service, forceEvent)
      return act(service, 'DEPLOY', by, { sameVersion: true, forceEvent, stackAction })
    },

    /**
     * Starts the version of an execution again, with its image, settings, variables and secrets.
     * The service's settings are restored too, so that the next deployment does not undo it.
     */
    async rollback(service: ServiceRow, by: RequestedBy, executionId: string) {
      refuseKind(options, service)
      const release = await findFormerRelease(database, service, executionId)
      const current = await options.restoreSettings(service, release)
      const accepted = await act(current, 'DEPLOY', by, { release: release.id })
      return { ...accepted, note: rollbackNote(release) }
    },
    stop: (service: ServiceRow, by: RequestedBy) => act(service, 'STOP', by),

    async restart(service: ServiceRow, by: RequestedBy) {
      if (service.release_id === null) {
        throw new AppError('conflict', `Service "${service.name}" has no version that runs; deploy it instead.`)
      }
      return act(service, 'RESTART', by)
    },

    /** Uninstalls a service. Returns undefined if it was never deployed. */
    async uninstall(service: ServiceRow, by: RequestedBy, asked: Pick<Asked, 'stackAction'> = {}) {
      return isUsed(service) ? act(service, 'UNINSTALL', by, asked) : undefined
    },

    async remove(service: ServiceRow, by: RequestedBy, asked: Pick<Asked, 'stackAction'> = {}): Promise<void> {
      const left = await inTransaction(database, async (sql) => {
        await lockEnvironment(sql, service.environment_id)
        await lockService(sql, service.id)
        const current = await findService(sql, service.id)
        if (current?.copying) await cancelForCopies(sql, options, [current.id])
        else if (!current || isUsed(current)) return current
        await deleteServiceRow(sql, service.id)
        return undefined
      })
      if (left && left.state !== 'DELETE_QUEUED' && left.state !== 'DELETING') await act(left, 'DELETE', by, asked)
    },

    /**
     * Deploys the services that are not skipped. With `sameVersion`, each in its deployed version.
     * A service that is being copied into the environment is left out. If the whole environment is
     * a copy in progress, its services are included and wait for their data.
     */
    async deployEnvironment(
      environment: EnvironmentRow,
      by: RequestedBy,
      asked: Pick<Asked, 'sameVersion'> = {},
    ): Promise<void> {
      const services = await listServices(database, environment.id)
      const chosen = services.filter(
        ({ is_skipped, copying, restoring }) =>
          !is_skipped && (copying === null || environment.copying !== null) && restoring === null,
      )
      if (services.length === 0 && environment.copying !== null) {
        const message = `Environment "${environment.name}" is being copied. Try again when its services exist.`
        throw new AppError('conflict', message)
      }
      if (chosen.length === 0)
        throw new AppError('conflict', `Environment "${environment.name}" has nothing to deploy.`)
      // The workflow leaves out services that cannot run there, and reports the reason.
      if (chosen.every((service) => refusalOf(options, service)))
        for (const service of chosen) refuseKind(options, service)
      await ofEnvironment(environment, 'DEPLOY', chosen, by, asked)
    },

    async stopEnvironment(environment: EnvironmentRow, by: RequestedBy): Promise<void> {
      const services = await listServices(database, environment.id)
      const chosen = services.filter((service) => !service.is_skipped && isStoppable(service))
      if (chosen.length === 0)
        throw new AppError('conflict', `Nothing of environment "${environment.name}" is running.`)
      await ofEnvironment(environment, 'STOP', chosen, by)
    },

    /** Stops everything of an environment, also services that requests for all of it leave out. */
    async stopAll(environment: EnvironmentRow, by: RequestedBy): Promise<void> {
      await ofEnvironment(environment, 'STOP', (await listServices(database, environment.id)).filter(isStoppable), by)
    },

    cancel: (environment: EnvironmentRow) => cancelDeployment(options, environment.id),

    /** Deletes an environment: at once if it was never deployed, otherwise after its services. */
    async removeEnvironment(environment: EnvironmentRow, by: RequestedBy): Promise<void> {
      const left = await inTransaction(database, async (sql) => {
        await lockEnvironment(sql, environment.id)
        const services = await listServices(sql, environment.id)
        const copies = services.filter(({ copying }) => copying !== null).map(({ id }) => id)
        await cancelForCopies(sql, options, copies)
        const active = await listActiveRequests(sql, environment.id)
        const isGone = active.length === 0 && !services.some((service) => service.copying === null && isUsed(service))
        if (isGone) await deleteEnvironmentRow(sql, environment.id)
        else await markEnvironmentDeleting(sql, environment.id)
        return isGone ? [] : services
      })
      await ofEnvironment(environment, 'DELETE', left, by)
    },
  }
}

/** Returns the id of a service under the name of its kind: `application_id`. */
const namedId = ({ kind, id }: ServiceRow): { readonly [K in KindName as `${K}_id`]?: string } => ({
  [`${kind}_id`]: id,
})

export type Deployments = ReturnType<typeof createDeployments>

/** Whether a service was ever deployed, or is about to be. */
export const isUsed = (service: ServiceRow): boolean =>
  service.last_deployment_date !== null || !isAtRest(service.state)

const isStoppable = ({ state }: ServiceRow): boolean => state !== 'READY' && state !== 'STOPPED' && state !== 'DELETED'

const commitForm = /^[0-9a-f]{7,64}$/i

/** The field of a body that names the commit of the values of a chart. */
export const valuesField = 'values_override_git_commit_id'

/**
 * Returns the full commit id. Throws 400 if the repository of the field does not have the commit,
 * or if the id is invalid.
 */
export async function checkCommit(
  { database, git, readCredential, clock }: DeploymentsOptions,
  service: ServiceRow,
  wanted: string,
  field: 'git_commit_id' | typeof valuesField = 'git_commit_id',
): Promise<string> {
  if (!commitForm.test(wanted)) throw new AppError('invalid', `${field} must be 7 to 64 hexadecimal digits.`)
  const isOfValues = field === valuesField
  const source = isOfValues ? valuesRepositoryOf(service) : pinnedRepositoryOf(service)
  const what = isOfValues ? 'has no values from' : 'is not built from'
  if (!source) throw new AppError('invalid', `${field}: "${service.name}" ${what} a git repository.`)
  const commit = wanted.toLowerCase()
  const patience = new AbortController()
  const timer = clock.sleep(commitCheckMs, patience.signal).then(
    () => patience.abort(new Error('the repository did not answer in time')),
    () => {},
  )
  try {
    const repository = await repositoryOf(database, readCredential, service.organization_id, source)
    return await git.resolveCommit(repository, commit, patience.signal)
  } catch (error) {
    if (error instanceof GitError && error.reason === 'commit') {
      throw new AppError('invalid', `${field}: ${error.message}`, { cause: error })
    }
    if (error instanceof TokenPlaceError) throw new AppError('conflict', error.message, { cause: error })
    if (error instanceof AppError) throw error
    return commit
  } finally {
    patience.abort()
    await timer
  }
}
