import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Handlers for deployment stages and deployment rules. */
export const environmentPlanHandlers = ({ database, stages, rules, projectRules }: Rooms) => {
  const idOf = (ids: readonly string[]): string => ids[0] ?? ''
  return {
    listStages: async ({ target }) => ({ results: await stages.list(target.id) }),
    createStage: ({ target, body }) => stages.create(target, body),
    getStage: ({ target }) => stages.get(target.id),
    editStage: ({ target, body }) => stages.edit(target, body),
    deleteStage: async ({ target }) => void (await stages.remove(target)),
    attachService: async ({ target, ids, body }) => ({
      results: await stages.attach(target, idOf(ids), body.is_skipped ?? false),
    }),
    moveStageBefore: async ({ target, ids }) => ({ results: await stages.moveBefore(target, idOf(ids)) }),
    moveStageAfter: async ({ target, ids }) => ({ results: await stages.moveAfter(target, idOf(ids)) }),
    getStageOfService: ({ target }) => stages.get(target.stage_id),

    getEnvironmentRule: async ({ target }) => {
      const matching = await rules.find(database, target.project_id, target.name)
      return { ...(await rules.get(target.id)), matching_project_rule_id: matching?.id ?? null }
    },
    editEnvironmentRule: ({ target, ids, body }) => rules.edit(target.id, idOf(ids), body),
    listProjectRules: async ({ target }) => ({ results: await projectRules.list(target) }),
    createProjectRule: ({ target, body }) => projectRules.create(target, body),
    getProjectRule: ({ target, ids }) => projectRules.get(target, idOf(ids)),
    editProjectRule: ({ target, ids, body }) => projectRules.edit(target, idOf(ids), body),
    deleteProjectRule: async ({ target, ids }) => void (await projectRules.remove(target, idOf(ids))),
    orderProjectRules: async ({ target, body }) =>
      void (await projectRules.order(target, body.project_deployment_rule_ids_in_order)),
  } satisfies Partial<Handlers>
}
