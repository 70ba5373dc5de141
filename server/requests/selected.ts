import type { Action } from '@quayside/contract/states.ts'
import { inTransaction } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import type { EnvironmentRow } from '../organizations/index.ts'
import { listServices, type ServiceRow } from '../services/index.ts'
import { cancelRequest } from './cancel.ts'
import { type Chosen, chosenByIds, chosenByVersions, type ServiceIds, type ServiceVersions } from './chosen-services.ts'
import { checkCommit, type DeploymentsOptions, isUsed, valuesField } from './deployments.ts'
import { refusalOf, refuseKind } from './refusal-of-kind.ts'
import { acceptRequest, type RequestedBy } from './request.ts'
import { lockEnvironment, type RequestRow } from './request-store.ts'
import { type RolledBack, rollbackTargets } from './rollback-several.ts'
import { deleteServiceRows } from './selected-store.ts'
import { environmentStatuses } from './status.ts'
import type { WantedTarget } from './target-store.ts'
import { planOf, stackActionOf, takeTag } from './wanted-version.ts'
import { cancelForCopies } from './withdraw.ts'

/** A service, and the commit that was pushed to its branch. */
export interface PushedTarget {
  readonly service: ServiceRow
  /** A full commit id. */
  readonly commit: string
  /** Only the plan of a stack is made. */
  readonly stackAction?: 'PLAN'
}

/**
 * Creates the actions on several services of one environment. Each makes one request for all of
 * them, or none.
 */
export function createSelected(options: DeploymentsOptions) {
  const { database } = options

  const ask = async (environment: EnvironmentRow, action: Action, services: readonly ServiceRow[], by: RequestedBy) => {
    if (services.length === 0) return
    const targets = services.map((service) => ({ service, commit: undefined }))
    await acceptRequest(options, { environment, action, targets, by })
  }
  const choose = async (environment: EnvironmentRow, body: ServiceIds): Promise<ServiceRow[]> =>
    chosenByIds(await listServices(database, environment.id), body).map(({ service }) => service)

  return {
    /**
     * Deploys the named services, including skipped ones. The workflow leaves out services that the
     * cluster cannot run. Throws 400 if it can run none of them.
     */
    async deploy(environment: EnvironmentRow, body: ServiceVersions, by: RequestedBy): Promise<void> {
      const chosen = chosenByVersions(await listServices(database, environment.id), body)
      if (chosen.every(({ service }) => refusalOf(options, service)))
        for (const { service } of chosen) refuseKind(options, service)
      const targets: WantedTarget[] = []
      for (const one of chosen) targets.push(await toTarget(options, one))
      await acceptRequest(options, { environment, action: 'DEPLOY', targets, by })
    },

    /**
     * Starts earlier versions of services again by one request, and restores their settings. Must
     * run in a unit of work, which undoes everything if one of them cannot be rolled back.
     */
    async rollback(environment: EnvironmentRow, wanted: readonly RolledBack[], by: RequestedBy): Promise<void> {
      const targets = await rollbackTargets(options, await listServices(database, environment.id), wanted)
      await acceptRequest(options, { environment, action: 'DEPLOY', targets, by })
    },

    /** Deploys services at the commits that were pushed, and returns the id of the request. */
    async deployPushed(
      environment: Pick<EnvironmentRow, 'id' | 'name'>,
      targets: readonly PushedTarget[],
      by: RequestedBy,
    ): Promise<string> {
      return (await acceptRequest(options, { environment, action: 'DEPLOY', targets, by })).id
    },

    /**
     * Restarts services. Returns the statuses of the environment and of the first named service.
     */
    async restart(environment: EnvironmentRow, body: ServiceIds, by: RequestedBy) {
      const services = await choose(environment, body)
      const idle = services.find((service) => service.release_id === null)
      if (idle) throw new AppError('conflict', `Service "${idle.name}" has no version that runs; deploy it instead.`)
      await ask(environment, 'RESTART', services, by)
      const { environment: whole, ...lists } = await environmentStatuses(database, environment.id)
      const first = Object.values(lists)
        .flat()
        .find(({ id }) => id === services[0]?.id)
      if (!first) throw notFound('service', services[0]?.id)
      return { ...first, ...whole }
    },

    /**
     * Stops services. Leaves out those that the cluster cannot run, since they never run. If no
     * other service is named, the request is rejected.
     */
    async stop(environment: EnvironmentRow, body: ServiceIds, by: RequestedBy): Promise<void> {
      const named = await choose(environment, body)
      const able = named.filter((service) => isUsed(service) || !refusalOf(options, service))
      await ask(environment, 'STOP', able.length > 0 ? able : named, by)
    },

    /** Uninstalls services. Those that were never deployed are left out. */
    async uninstall(environment: EnvironmentRow, body: ServiceIds, by: RequestedBy): Promise<void> {
      await ask(environment, 'UNINSTALL', (await choose(environment, body)).filter(isUsed), by)
    },

    /**
     * Deletes services. Those that were never deployed are deleted at once. A deletion that is
     * already in progress continues.
     */
    async remove(environment: EnvironmentRow, body: ServiceIds, by: RequestedBy): Promise<void> {
      const left = await inTransaction(database, async (sql) => {
        await lockEnvironment(sql, environment.id)
        const services = chosenByIds(await listServices(sql, environment.id), body).map(({ service }) => service)
        const copies = services.filter(({ copying }) => copying !== null)
        await cancelForCopies(sql, options, copies.map(idOf))
        const unused = services.filter((service) => service.copying !== null || !isUsed(service))
        await deleteServiceRows(sql, unused.map(idOf))
        return services.filter((service) => !unused.includes(service) && !isGoing(service))
      })
      await ask(environment, 'DELETE', left, by)
    },

    cancel: (request: RequestRow): Promise<void> => cancelRequest(options, request),

    /** Uninstalls all services. Throws 409 if none was ever deployed. */
    async uninstallAll(environment: EnvironmentRow, by: RequestedBy): Promise<void> {
      const used = (await listServices(database, environment.id)).filter(isUsed)
      if (used.length === 0) {
        throw new AppError('conflict', `Nothing of environment "${environment.name}" was ever deployed.`)
      }
      await ask(environment, 'UNINSTALL', used, by)
    },
  }
}

const idOf = ({ id }: ServiceRow): string => id

const isGoing = ({ state }: ServiceRow): boolean => state === 'DELETE_QUEUED' || state === 'DELETING'

/**
 * Returns the target of one service. As for a single service, a commit is checked against the
 * repository and a tag is stored in the settings.
 */
async function toTarget(options: DeploymentsOptions, { service, wanted, field }: Chosen) {
  if (refusalOf(options, service)) return { service, commit: undefined }
  const { git_commit_id, image_tag, action, plan_run_id, values_override_git_commit_id: values } = wanted
  try {
    const commit = git_commit_id ? await checkCommit(options, service, git_commit_id) : undefined
    const valuesCommit = values ? await checkCommit(options, service, values, valuesField) : undefined
    const current = image_tag ? await takeTag(options, service, image_tag) : service
    const wantedPlan = { ...stackActionOf(action), ...(plan_run_id ? { planRun: plan_run_id } : {}) }
    const ofStack = await planOf(options, current, { ...wantedPlan, ...(commit !== undefined && { commit }) })
    return { service: current, commit, valuesCommit, ...ofStack }
  } catch (error) {
    throw namingField(field, error)
  }
}

/** Adds the position in the body to the message of a validation error. */
function namingField(field: string, error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'invalid') return error
  return new AppError('invalid', `${field}.${error.message}`, { cause: error })
}
