import { createSecret, createVariable, listVariables, type Scope } from '../../../server/variables/index.ts'
import { canaryOf } from '../canary.ts'
import type { Contribution } from '../fixture.ts'

/** Services other than applications whose variables have paths of their own. */
const kinds = ['container', 'job'] as const

/**
 * Adds a variable and a secret to a service of each kind, and a built-in variable to the project.
 */
export const addVariableObjects: Contribution = async ({ rooms, tenant, objects }) => {
  const { organizationId, projectId, environmentId, variables } = objects
  const more: Record<string, string> = { variableId: variables.service }
  const project: Scope = { scope: 'PROJECT', projectId, organizationId }
  for (const kind of kinds) {
    const serviceId = objects.more[`${kind}Id`]
    if (serviceId === undefined) continue
    const scope: Scope = { ...project, scope: 'SERVICE', environmentId, serviceId, serviceName: kind, kind }
    const variable = await createVariable(rooms, scope, { key: 'PLAIN', value: 'visible' })
    const secret = await createSecret(rooms, scope, { key: 'HIDDEN', value: canaryOf(tenant) })
    more[`${kind}.environmentVariableId`] = variable.id
    more[`${kind}.secretId`] = secret.id
  }
  const builtIn = (await listVariables(rooms, project)).find(({ key }) => key === 'QOVERY_PROJECT_ID')
  return { ...more, ...(builtIn && { builtInVariableId: builtIn.id }) }
}
