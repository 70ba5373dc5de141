import type { ServiceAction, SubAction, TriggerAction } from '../enums.ts'
import type { Action } from '../states.ts'
import { isStackKind, type KindName } from './kinds.ts'
import type { StackAction } from './terraform.ts'

/** The API's terms for what requests do with stacks. */

const subActions = {
  PLAN: 'TERRAFORM_PLAN_ONLY',
  FORCE_UNLOCK: 'TERRAFORM_FORCE_UNLOCK_STATE',
  MIGRATE_STATE: 'TERRAFORM_MIGRATE_STATE',
  SKIP_DESTROY: 'NONE',
  RESOURCES_ONLY: 'TERRAFORM_DESTROY',
  APPLY_PLAN: 'TERRAFORM_PLAN_AND_APPLY',
  KEEP_VOLUMES: 'NONE',
} as const satisfies Record<StackAction, SubAction>

const usual: Readonly<Record<Action, SubAction>> = {
  DEPLOY: 'TERRAFORM_PLAN_AND_APPLY',
  DELETE: 'TERRAFORM_DESTROY',
  UNINSTALL: 'TERRAFORM_DESTROY',
  STOP: 'NONE',
  RESTART: 'NONE',
}

/** Pure: returns what a request does with a stack. NONE for every other kind. */
export function subActionOf(kind: KindName, action: Action | null, stackAction: StackAction | null): SubAction {
  if (!isStackKind(kind) || action === null) return 'NONE'
  return stackAction === null ? usual[action] : subActions[stackAction]
}

const triggers: Partial<Record<StackAction, TriggerAction>> = {
  PLAN: 'DEPLOY_DRY_RUN',
  FORCE_UNLOCK: 'TERRAFORM_FORCE_UNLOCK',
  MIGRATE_STATE: 'TERRAFORM_MIGRATE_STATE',
  RESOURCES_ONLY: 'DELETE_RESOURCES_ONLY',
}

/**
 * Pure: returns the action of a request. It is the action on its stacks if it does the same with
 * all of its services.
 */
export function triggerActionOf(
  action: Action,
  targets: readonly { readonly stack_action: StackAction | null }[],
): TriggerAction {
  const [first, ...others] = new Set(targets.map(({ stack_action }) => stack_action))
  return (first && others.length === 0 && triggers[first]) || action
}

/** Returns the action of a service in a status, which has fewer terms. */
export const serviceActionOf = (action: Action): ServiceAction => (action === 'UNINSTALL' ? 'DELETE' : action)
