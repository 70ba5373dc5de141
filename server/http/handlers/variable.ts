import { visible } from '../../access/index.ts'
import { checkLogins } from '../../domains/index.ts'
import {
  createSecret,
  createVariable,
  editSecret,
  editVariable,
  listSecrets,
  listVariables,
  listVariableUses,
  removeSecret,
  removeVariable,
  standOnSecret,
  standOnVariable,
} from '../../variables/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'
import { environmentScope, projectScope, scopeOf } from './variable-parent.ts'

/** Handlers for variables and secrets of the target: a project, an environment or a service. */
export const variableHandlers = (rooms: Rooms) => {
  const idOf = (ids: readonly string[]): string => ids[0] ?? ''
  /** Returns the scope of a variable whose new value is valid for the services in it. */
  const checked = async (target: Parameters<typeof scopeOf>[0], body: Parameters<typeof checkLogins>[2]) => {
    const scope = scopeOf(target)
    await checkLogins(rooms.database, scope, body)
    return scope
  }
  return {
    listVariables: async ({ target }) => ({ results: await listVariables(rooms, scopeOf(target)) }),
    createVariable: async ({ target, body }) => createVariable(rooms, await checked(target, body), body),
    editVariable: async ({ target, ids, body }) => editVariable(rooms, await checked(target, body), idOf(ids), body),
    deleteVariable: async ({ target, ids }) => void (await removeVariable(rooms, scopeOf(target), idOf(ids))),
    listSecrets: async ({ target }) => ({ results: await listSecrets(rooms, scopeOf(target)) }),
    createSecret: async ({ target, body }) => createSecret(rooms, await checked(target, body), body),
    editSecret: async ({ target, ids, body }) => editSecret(rooms, await checked(target, body), idOf(ids), body),
    deleteSecret: async ({ target, ids }) => void (await removeSecret(rooms, scopeOf(target), idOf(ids))),
    createVariableAlias: ({ target, ids, body }) =>
      standOnVariable(rooms, scopeOf(target), idOf(ids), { ...body, type: 'ALIAS' }),
    createVariableOverride: ({ target, ids, body }) =>
      standOnVariable(rooms, scopeOf(target), idOf(ids), { ...body, type: 'OVERRIDE' }),
    createSecretAlias: ({ target, ids, body }) =>
      standOnSecret(rooms, scopeOf(target), idOf(ids), { ...body, type: 'ALIAS' }),
    createSecretOverride: ({ target, ids, body }) =>
      standOnSecret(rooms, scopeOf(target), idOf(ids), { ...body, type: 'OVERRIDE' }),
    listEnvironmentVariableUses: ({ target }) => listVariableUses(rooms.database, environmentScope(target), () => true),
    listProjectVariableUses: ({ target, caller }) =>
      listVariableUses(rooms.database, projectScope(target), (mode) => visible(caller).environment(target.id, mode)),
  } satisfies Partial<Handlers>
}
