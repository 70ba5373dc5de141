import { operation } from '../operation.ts'
import { base, Enum, NoBody, Results, Type } from '../schema.ts'
import type { KindName } from '../services/kinds.ts'
import { onService, pathOf } from '../services/on-service.ts'

export const restrictionModes = ['EXCLUDE', 'MATCH'] as const
export const restrictionTypes = ['PATH'] as const

const fields = { mode: Enum(restrictionModes), type: Enum(restrictionTypes) }
export const DeploymentRestriction = Type.Object({ ...base, ...fields, value: Type.String() })
export const DeploymentRestrictionRequest = Type.Object({
  ...fields,
  value: Type.String({
    minLength: 1,
    maxLength: 1000,
    description: 'a path inside the repository, without a leading /',
  }),
})

/** Which changed files of a repository trigger an automatic deployment. */
export function deploymentRestrictionTemplates<const N extends KindName>(name: N) {
  const path = `${pathOf(name)}/deploymentRestriction` as const
  const one = onService(name, ' Deployment Restriction')
  return {
    'get{Kind}DeploymentRestrictions': operation({
      ...one,
      method: 'GET',
      path,
      handler: 'listDeploymentRestrictions',
      access: 'read',
      summary: 'Lists the deployment restrictions of a service, oldest first.',
      reply: Results(DeploymentRestriction),
      status: 200,
    }),
    'create{Kind}DeploymentRestriction': operation({
      ...one,
      method: 'POST',
      path,
      handler: 'createDeploymentRestriction',
      access: 'write',
      event: { type: 'CREATE', target: 'SERVICE', sub: 'CONFIG' },
      summary:
        'Creates a deployment restriction: automatic deployments only for changes inside, or only outside, a ' +
        'path. 409 if it exists.',
      body: DeploymentRestrictionRequest,
      reply: DeploymentRestriction,
      status: 201,
    }),
    'edit{Kind}DeploymentRestriction': operation({
      ...one,
      method: 'PUT',
      path: `${path}/{deploymentRestrictionId}`,
      handler: 'editDeploymentRestriction',
      access: 'write',
      event: { type: 'UPDATE', target: 'SERVICE', sub: 'CONFIG' },
      summary: 'Replaces a deployment restriction.',
      body: DeploymentRestrictionRequest,
      reply: DeploymentRestriction,
      status: 200,
    }),
    'delete{Kind}DeploymentRestriction': operation({
      ...one,
      method: 'DELETE',
      path: `${path}/{deploymentRestrictionId}`,
      handler: 'deleteDeploymentRestriction',
      access: 'write',
      event: { type: 'DELETE', target: 'SERVICE', sub: 'CONFIG' },
      summary: 'Deletes a deployment restriction.',
      reply: NoBody,
      status: 204,
    }),
  }
}
