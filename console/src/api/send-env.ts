import type { EnvStep } from '../forms/plan-env.ts'
import { api } from './client.ts'
import type { VariablePlace } from './reads-variables.ts'
import type { Work } from './record-requests.ts'

/**
 * Returns the requests of a .env file, to be sent in order. In a service all changes are made or
 * none. In an environment or a project they are made one by one: an error ends it, and another try
 * continues.
 */
export function envRequests({ scope, parentId }: VariablePlace, steps: readonly EnvStep[]): readonly Work[] {
  const wanted = steps.filter(({ effect }) => effect !== 'same' && effect !== 'skip')
  if (scope !== 'PROJECT' && scope !== 'ENVIRONMENT') {
    const vars = wanted.map(({ key, value, isSecret }) => ({ name: key, value, scope, is_secret: isSecret }))
    const query = { service_id: parentId, service_type: scope }
    return [() => api.importEnvironmentVariables({ query, body: { overwrite: true, vars } })]
  }
  return wanted.map(({ key, value, effect, isSecret, id: variableId = '' }) => () => {
    if (effect === 'change') return api.editVariable({ variableId, body: { key, value } })
    if (effect === 'override') {
      const body = { value, override_scope: scope, override_parent_id: parentId }
      return api.createVariableOverride({ variableId, body })
    }
    const body = { key, value, is_secret: isSecret, variable_scope: scope, variable_parent_id: parentId }
    return api.createVariable({ body })
  })
}
