import {
  driftPolicy,
  editDriftPolicy,
  listResources,
  restoreState,
  stackPlan,
  stackRuns,
  stateVersions,
  versionsOf,
} from '../../stacks/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for Terraform stacks. */
export const stackHandlers = ({ database, vault, clock, runnerImages, checkStack }: Rooms) =>
  ({
    listTerraformResources: async ({ target }) => ({ results: await listResources(database, target.id) }),
    listTerraformVersions: async () => ({ results: versionsOf(runnerImages) }),
    listStackRuns: async ({ target }) => ({ results: await stackRuns(database, target.id) }),
    getStackPlan: ({ target, ids }) => stackPlan(database, { serviceId: target.id, runId: ids[0] ?? '' }),
    getDriftPolicy: ({ target }) => driftPolicy(database, target.id),
    checkStackDrift: ({ target }) => checkStack(target.id),
    editDriftPolicy: ({ target, body }) => editDriftPolicy({ database, clock }, target.id, body),
    listStackStates: async ({ target }) => ({ results: await stateVersions(database, target.id) }),
    restoreStackState: ({ target, ids }) => {
      const { id: serviceId, environment_id: environmentId, organization_id: organizationId } = target
      return restoreState(database, { vault, clock }, { serviceId, environmentId, organizationId }, ids[0] ?? '')
    },
  }) satisfies Partial<Handlers>
