import { checkLogins } from '../../domains/index.ts'
import { AppError } from '../../lib/error.ts'
import { createAny, editAny, listAny, removeAny, standOnAny } from '../../variables/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'
import { findVariableParent } from './variable-parent.ts'

/** Handlers for variables and secrets by their ids. The query or the body names the owner. */
export const anyVariableHandlers = (rooms: Rooms) => {
  const find = findVariableParent(rooms)
  return {
    listAnyVariables: async (call) => {
      const { parent_id: id, scope, is_secret } = call.query
      return { results: await listAny(rooms, await find(call, { access: 'read', scope, id }), is_secret) }
    },
    createAnyVariable: async (call) => {
      const { variable_scope: scope, variable_parent_id: id, ...input } = call.body
      checkSource(input)
      const place = await find(call, { access: 'write', scope, id, field: 'variable_scope' })
      await checkLogins(rooms.database, place, input)
      return createAny(rooms, place, input)
    },
    editAnyVariable: async ({ target, body }) => {
      checkSource(body)
      const { project_id: projectId, environment_id: environmentId, service_id: serviceId } = target
      await checkLogins(rooms.database, { projectId, environmentId, serviceId }, body)
      return editAny(rooms, target, body)
    },
    deleteAnyVariable: async ({ target }) => void (await removeAny(rooms, target)),
    createAnyAlias: async (call) => {
      const { alias_scope: scope, alias_parent_id: id, ...input } = call.body
      const place = await find(call, { access: 'write', scope, id, field: 'alias_scope' })
      return standOnAny(rooms, place, call.target, { ...input, type: 'ALIAS' })
    },
    createAnyOverride: async (call) => {
      const { override_scope: scope, override_parent_id: id, ...input } = call.body
      const place = await find(call, { access: 'write', scope, id, field: 'override_scope' })
      return standOnAny(rooms, place, call.target, { ...input, type: 'OVERRIDE' })
    },
  } satisfies Partial<Handlers>
}

function checkSource({ secret_manager_access_id }: { readonly secret_manager_access_id?: string | null }): void {
  if (secret_manager_access_id === undefined || secret_manager_access_id === null) return
  const message = 'secret_manager_access_id: no secret manager is connected here; send the value itself'
  throw new AppError('invalid', message)
}
