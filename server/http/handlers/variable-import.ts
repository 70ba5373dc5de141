import type { Static } from '@quayside/contract'
import type { VariableImport, VariableImportRequest } from '@quayside/contract/resources/variable-import.ts'
import { kindNames } from '@quayside/contract/services/kinds.ts'
import { type Membership, requireOn } from '../../access/index.ts'
import { notFound } from '../../lib/error.ts'
import type { ServiceRow } from '../../services/index.ts'
import { importVariables } from '../../variables/index.ts'
import type { Handlers } from '../call.ts'
import type { Rooms } from './rooms.ts'
import { findService, serviceScope } from './variable-parent.ts'

/** Handlers that import variables into a service. The path or the query names the service. */
export const variableImportHandlers = (rooms: Rooms) =>
  ({
    importVariables: ({ caller, target, body }) => importInto(rooms, caller, target, body),
    importVariablesOfService: async ({ memberships, query, body }) => {
      const id = query.service_id.toLowerCase()
      const kind = kindNames.find((name) => name.toUpperCase() === query.service_type)
      if (!kind) throw notFound('service', query.service_id)
      const wish = { access: 'write', id } as const
      const service = await findService(rooms, { memberships }, kind, wish)
      const membership = memberships.find(({ organizationId }) => organizationId === service.organization_id)
      if (!membership) throw notFound('service', query.service_id)
      return importInto(rooms, membership, service, body)
    },
  }) satisfies Partial<Handlers>

async function importInto(
  rooms: Rooms,
  caller: Pick<Membership, 'rights'>,
  service: ServiceRow,
  body: Static<typeof VariableImportRequest>,
): Promise<Static<typeof VariableImport>> {
  // The right to write the service covers its environment, but not its project.
  if (body.vars.some(({ scope }) => scope === 'PROJECT')) {
    requireOn(caller, 'write', { projectId: service.project_id }, 'the project of that service')
  }
  const written = await importVariables(rooms, serviceScope(service), body)
  return {
    total_variables_to_import: body.vars.length,
    successful_imported_variables: written.map(({ name, value, scope, is_secret }) => ({
      name,
      scope,
      is_secret,
      ...(is_secret ? {} : { value }),
    })),
  }
}
