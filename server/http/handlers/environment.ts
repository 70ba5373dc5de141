import { requireNewEnvironment, visible } from '../../access/index.ts'
import { copiesOf } from '../../environments/index.ts'
import { deploymentQueue, environmentLog } from '../../history/index.ts'
import { AppError } from '../../lib/error.ts'
import { environmentRecord } from '../../organizations/index.ts'
import { environmentStatuses } from '../../requests/index.ts'
import type { Handlers } from '../call.ts'
import { requestedBy } from './requested-by.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for environments, and for actions on all services of one. */
export const environmentHandlers = (rooms: Rooms) => {
  const { database, deployments, environments, lines } = rooms
  const statusOf = async (id: string) => (await environmentStatuses(database, id)).environment
  const actionStatusOf = async (id: string) => {
    const { environment, ...lists } = await environmentStatuses(database, id)
    return { ...Object.values(lists).flat()[0], ...environment }
  }
  return {
    listEnvironments: async ({ target, caller }) => {
      const { environment } = visible(caller)
      const all = await environments.list(target.id)
      return { results: all.filter(({ mode }) => environment(target.id, mode)) }
    },
    createEnvironment: ({ target, caller, body }) =>
      environments.create(target, caller.id, body, (place) => requireNewEnvironment(caller, place)),
    getEnvironment: async ({ target }) => environmentRecord(target),
    editEnvironment: ({ target, caller, body }) => environments.edit(target, caller.id, body),
    deleteEnvironment: async (call) => void (await deployments.removeEnvironment(call.target, requestedBy(call))),

    getEnvironmentStatus: ({ target }) => statusOf(target.id),
    getEnvironmentStatuses: ({ target }) => environmentStatuses(database, target.id),
    listEnvironmentLogs: ({ target, query }) => environmentLog(database, lines, target, query.version),
    listEnvironmentDeploymentQueue: async ({ target }) => ({ results: await deploymentQueue(database, target.id) }),

    deployEnvironment: async (call) => {
      await deployments.deployEnvironment(call.target, requestedBy(call))
      return actionStatusOf(call.target.id)
    },
    redeployEnvironment: async (call) => {
      await deployments.deployEnvironment(call.target, requestedBy(call), { sameVersion: true })
      return actionStatusOf(call.target.id)
    },
    stopEnvironment: async (call) => {
      await deployments.stopEnvironment(call.target, requestedBy(call))
      return actionStatusOf(call.target.id)
    },
    listCopies: async ({ target, caller }) => {
      const { environment } = visible(caller)
      return { results: await copiesOf(database, target.id, ({ project_id, mode }) => environment(project_id, mode)) }
    },
    cancelEnvironmentDeployment: async ({ target, body }) => {
      if (body?.force_cancel) {
        throw new AppError(
          'invalid',
          'force_cancel must be false: a cancellation already stops the running steps that can be stopped. ' +
            'Stopping the others would leave them half done. Cancel without it.',
        )
      }
      await deployments.cancel(target)
      return actionStatusOf(target.id)
    },
  } satisfies Partial<Handlers>
}
