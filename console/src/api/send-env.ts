import type { EnvStep } from '../forms/plan-env.ts'
import { api } from './client.ts'
import type { VariablePlace } from './reads-variables.ts'

/**
 * Makes the changes of a .env file. In a service all are made or none. In an environment or a
 * project they are made one by one: an error ends it, and another try continues.
 */
export async function sendEnv({ scope, parentId }: VariablePlace, steps: readonly EnvStep[]): Promise<void> {
  const wanted = steps.filter(({ effect }) => effect !== 'same' && effect !== 'skip')
  if (scope !== 'PROJECT' && scope !== 'ENVIRONMENT') {
    const vars = wanted.map(({ key, value, isSecret }) => ({ name: key, value, scope, is_secret: isSecret }))
    await api.importEnvironmentVariables({
      query: { service_id: parentId, service_type: scope },
      body: { overwrite: true, vars },
    })
    return
  }
  for (const { key, value, effect, isSecret, id: variableId = '' } of wanted) {
    if (effect === 'change') await api.editVariable({ variableId, body: { key, value } })
    else if (effect === 'override') {
      const body = { value, override_scope: scope, override_parent_id: parentId }
      await api.createVariableOverride({ variableId, body })
    } else {
      const body = { key, value, is_secret: isSecret, variable_scope: scope, variable_parent_id: parentId }
      await api.createVariable({ body })
    }
  }
}
