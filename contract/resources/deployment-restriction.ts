import { named, operation } from '../operation.ts'
import { base, Enum, NoBody, Results, Type } from '../schema.ts'

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
export function deploymentRestrictionOperations<const K extends string, const N extends string>(noun: K, kind: N) {
  const path = `/${kind}/{${kind}Id}/deploymentRestriction` as const
  const onService = { target: 'service', kind, tag: `${noun} Deployment Restriction` } as const
  return named(noun, {
    'get{Kind}DeploymentRestrictions': operation({
      ...onService,
      method: 'GET',
      path,
      handler: 'listDeploymentRestrictions',
      access: 'read',
      summary: 'Lists the deployment restrictions of a service, oldest first.',
      reply: Results(DeploymentRestriction),
      status: 200,
    }),
    'create{Kind}DeploymentRestriction': operation({
      ...onService,
      method: 'POST',
      path,
      handler: 'createDeploymentRestriction',
      access: 'write',
      event: { type: 'CREATE', target: 'SERVICE', sub: 'CONFIG' },
      summary:
        'Creates a deployment restriction: automatic deployments only for changes inside, or only outside, a path. 409 if it exists.',
      body: DeploymentRestrictionRequest,
      reply: DeploymentRestriction,
      status: 201,
    }),
    'edit{Kind}DeploymentRestriction': operation({
      ...onService,
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
      ...onService,
      method: 'DELETE',
      path: `${path}/{deploymentRestrictionId}`,
      handler: 'deleteDeploymentRestriction',
      access: 'write',
      event: { type: 'DELETE', target: 'SERVICE', sub: 'CONFIG' },
      summary: 'Deletes a deployment restriction.',
      reply: NoBody,
      status: 204,
    }),
  })
}
