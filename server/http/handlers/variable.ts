import type { EnvironmentRow, ProjectRow } from '../../organizations/index.ts'
import type { ServiceRow } from '../../services/index.ts'
import {
  createSecret,
  createVariable,
  editSecret,
  editVariable,
  listSecrets,
  listVariables,
  removeSecret,
  removeVariable,
  type Scope,
} from '../../variables/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'

/** Variables and secrets of a project, an environment or a service: the target says which. */
export const variableHandlers = (rooms: Rooms) => {
  const idOf = (ids: readonly string[]): string => ids[0] ?? ''
  return {
    listVariables: async ({ target }) => ({ results: await listVariables(rooms, scopeOf(target)) }),
    createVariable: ({ target, body }) => createVariable(rooms, scopeOf(target), body),
    editVariable: ({ target, ids, body }) => editVariable(rooms, scopeOf(target), idOf(ids), body),
    deleteVariable: async ({ target, ids }) => void (await removeVariable(rooms, scopeOf(target), idOf(ids))),
    listSecrets: async ({ target }) => ({ results: await listSecrets(rooms, scopeOf(target)) }),
    createSecret: ({ target, body }) => createSecret(rooms, scopeOf(target), body),
    editSecret: ({ target, ids, body }) => editSecret(rooms, scopeOf(target), idOf(ids), body),
    deleteSecret: async ({ target, ids }) => void (await removeSecret(rooms, scopeOf(target), idOf(ids))),
  } satisfies Partial<Handlers>
}

function scopeOf(target: ProjectRow | EnvironmentRow | ServiceRow): Scope {
  const { organization_id: organizationId } = target
  if ('environment_id' in target) {
    const { id: serviceId, name: serviceName, kind, environment_id: environmentId, project_id: projectId } = target
    return { scope: 'SERVICE', serviceId, serviceName, kind, environmentId, projectId, organizationId }
  }
  if ('project_id' in target) {
    return { scope: 'ENVIRONMENT', environmentId: target.id, projectId: target.project_id, organizationId }
  }
  return { scope: 'PROJECT', projectId: target.id, organizationId }
}
