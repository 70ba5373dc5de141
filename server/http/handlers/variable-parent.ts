import type { Access } from '@quayside/contract/operation.ts'
import { type KindName, kindNames } from '@quayside/contract/services/kinds.ts'
import { authorizeParent, type Membership } from '../../access/index.ts'
import { AppError } from '../../lib/error.ts'
import { type EnvironmentRow, environmentTarget, type ProjectRow, projectTarget } from '../../organizations/index.ts'
import { type ServiceRow, serviceTarget } from '../../services/index.ts'
import type { Scope } from '../../variables/index.ts'
import type { Rooms } from './rooms.ts'

/** Returns the variable scope of a project, an environment or a service. */
export function scopeOf(target: ProjectRow | EnvironmentRow | ServiceRow): Scope {
  if ('environment_id' in target) return serviceScope(target)
  return 'project_id' in target ? environmentScope(target) : projectScope(target)
}

export const projectScope = (row: ProjectRow) => ({
  scope: 'PROJECT' as const,
  projectId: row.id,
  organizationId: row.organization_id,
})

export const environmentScope = (row: EnvironmentRow) => ({
  scope: 'ENVIRONMENT' as const,
  environmentId: row.id,
  projectId: row.project_id,
  organizationId: row.organization_id,
})

export const serviceScope = (row: ServiceRow) => ({
  scope: 'SERVICE' as const,
  serviceId: row.id,
  serviceName: row.name,
  kind: row.kind,
  environmentId: row.environment_id,
  projectId: row.project_id,
  organizationId: row.organization_id,
})

interface Asking {
  readonly memberships: readonly Membership[]
}
interface Wish {
  readonly access: Access
  /** The scope in the terms of the API: `PROJECT`, `ENVIRONMENT` or the type of a service. */
  readonly scope: string
  readonly id: string
  /** The field of the request that names the scope. */
  readonly field?: string
}

/**
 * Finds and authorises the project, environment or service whose variables a query or a body names.
 */
export const findVariableParent =
  (rooms: Rooms) =>
  async (call: Asking, { access, scope, id, field = 'scope' }: Wish): Promise<Scope> => {
    const wish = { access, id: id.toLowerCase() }
    if (scope === 'PROJECT') {
      const place = (row: ProjectRow) => ({ projectId: row.id })
      return scopeOf(
        await authorizeParent(rooms.database, call, { ...wish, query: projectTarget, place, noun: 'project' }),
      )
    }
    if (scope === 'ENVIRONMENT') {
      const place = (row: EnvironmentRow) => ({ projectId: row.project_id, mode: row.mode })
      return scopeOf(
        await authorizeParent(rooms.database, call, {
          ...wish,
          query: environmentTarget,
          place,
          noun: 'environment',
        }),
      )
    }
    const kind = kindNames.find((name) => name.toUpperCase() === scope)
    if (!kind)
      throw new AppError('invalid', `${field}: built-in variables belong to the platform; name the scope of the parent`)
    return serviceScope(await findService(rooms, call, kind, wish))
  }

export const findService = (
  rooms: Rooms,
  call: Asking,
  kind: KindName,
  wish: { readonly access: Access; readonly id: string },
): Promise<ServiceRow> => {
  const place = (row: ServiceRow) => ({ projectId: row.project_id, mode: row.environment_mode })
  return authorizeParent(rooms.database, call, { ...wish, query: serviceTarget(kind), place, noun: 'service' })
}
