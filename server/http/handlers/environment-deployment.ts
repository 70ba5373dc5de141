import { authorizeParent, type Caller, mayAccess, requireNewEnvironment, visible } from '../../access/index.ts'
import { promoteService, readCanary } from '../../domains/index.ts'
import type { Copier } from '../../environments/index.ts'
import {
  compareDeployments,
  deploymentRequestTarget,
  environmentHistory,
  environmentHistoryV1,
  environmentLog,
  projectOverview,
  type RequestTargetRow,
  requestStatus,
  serviceHistoryBrief,
  serviceHistoryV1,
  serviceQueue,
  statusesWithStages,
  toEnvironmentLogV1,
} from '../../history/index.ts'
import { AppError } from '../../lib/error.ts'
import { environmentStatuses } from '../../requests/index.ts'
import { listServices } from '../../services/index.ts'
import type { Handlers } from '../call.ts'
import { requestedBy } from './requested-by.ts'
import type { Rooms } from './rooms.ts'

/**
 * Handlers for actions on several services of an environment, for its deployment history, and for
 * lists over many environments.
 */
export const environmentDeploymentHandlers = (rooms: Rooms) => {
  const { database, lines, overview, selected, services, stages } = rooms
  const statusOf = async (id: string) => (await environmentStatuses(database, id)).environment
  return {
    cloneEnvironment: ({ target, caller, body }) => {
      const requireNew: Copier['requireNew'] = (place) => requireNewEnvironment(caller, place)
      return rooms.cloneEnvironment(target, { id: caller.id, requireNew }, body)
    },
    exportEnvironment: ({ target, caller, query }) =>
      rooms.exports.environment(target, query.exportSecrets === true && mayAccess(caller.permissions, 'admin')),
    exportProject: ({ target, caller }) =>
      rooms.exports.project(target, (mode) => visible(caller).environment(target.id, mode)),
    uninstallEnvironment: async (call) => {
      await selected.uninstallAll(call.target, requestedBy(call))
      return statusOf(call.target.id)
    },
    deploySelected: async (call) => {
      await selected.deploy(call.target, call.body, requestedBy(call))
      return statusOf(call.target.id)
    },
    rollbackSelected: async (call) => {
      await selected.rollback(call.target, call.body.services, requestedBy(call))
      return statusOf(call.target.id)
    },
    restartSelected: (call) => selected.restart(call.target, call.body, requestedBy(call)),
    stopSelected: async (call) => void (await selected.stop(call.target, call.body, requestedBy(call))),
    deleteSelected: async (call) => {
      if (call.query.skipReconcile) {
        throw new AppError('invalid', 'skipReconcile: running replicas are always removed with their service.')
      }
      await selected.remove(call.target, call.body, requestedBy(call))
      return undefined
    },
    uninstallSelected: async (call) => void (await selected.uninstall(call.target, call.body, requestedBy(call))),
    cancelRequest: async ({ target }) => void (await selected.cancel(target)),

    listEnvironmentHistory: ({ target, query }) => environmentHistory(rooms, target.id, query),
    listEnvironmentHistoryV1: ({ target, query }) => environmentHistoryV1(database, target.id, query.startId),
    listServiceHistoryV1: ({ target, query }) => serviceHistoryV1(database, target.id, query.startId),
    listServiceHistoryBrief: ({ target, query }) => serviceHistoryBrief(database, target.id, query.startId),
    getStatusesWithStages: async ({ target }) => statusesWithStages(database, target.id, await stages.list(target.id)),
    listEnvironmentLog: async ({ target }) => ({
      results: toEnvironmentLogV1(await environmentLog(database, lines, target, undefined)),
    }),
    getServiceCanary: ({ target }) => readCanary(database, target.id),
    promoteServiceCanary: ({ target }) => promoteService(database, target.id),
    compareDeployments: ({ target, query }) => compareDeployments(rooms, target, query),
    listServiceDeploymentQueue: async ({ target }) => ({ results: await serviceQueue(database, target.id) }),
    getRequestStatus: async ({ query, memberships }) => {
      const place = (row: RequestTargetRow) => ({ projectId: row.project_id, mode: row.environment_mode })
      const wish = { access: 'read', query: deploymentRequestTarget, id: query.deploymentRequestId, place } as const
      return requestStatus(
        database,
        await authorizeParent(database, { memberships }, { ...wish, noun: 'deployment', at: 'environment' }),
      )
    },

    listAllServices: async ({ target }) => ({
      results: await services.records(await listServices(database, target.id)),
    }),
    listProjectStatuses: async ({ target, caller }) => {
      const environments = await projectOverview(database, target.id)
      return { results: readable(caller, target.id, environments).map((one) => one.deployment_status) }
    },
    listEnvironmentOverviews: async ({ target, caller }) => ({
      results: readable(caller, target.id, await projectOverview(database, target.id)),
    }),
    listEnvironmentStats: async ({ target, caller }) => ({
      results: readable(caller, target.id, await overview.countServices(target.id)),
    }),
    listProjectStats: async ({ target, caller }) => {
      const projects = await overview.countOfProjects(target.id)
      return { results: projects.filter(({ id }) => visible(caller).project(id)) }
    },
    listServicesOfOrganization: async ({ target, query, caller }) => {
      const found = await overview.servicesOf(target.id, query)
      const { environment } = visible(caller)
      return { results: found.filter((one) => environment(one.project_id, one.environment_mode)) }
    },
    listEnvironmentsOfOrganization: async ({ target, caller }) => {
      const { environment } = visible(caller)
      const found = await overview.environmentsOf(target.id)
      return { results: found.filter(({ project, mode }) => environment(project.id, mode)) }
    },
  } satisfies Partial<Handlers>
}

/** Returns the environments of a project whose mode the caller may read. */
const readable = <E extends { readonly mode: string }>(caller: Caller, projectId: string, list: readonly E[]): E[] =>
  list.filter(({ mode }) => visible(caller).environment(projectId, mode))
