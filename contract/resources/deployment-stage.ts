import { serviceTypes } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, NoBody, Nullable, Ref, Results, Text, Type, Uuid } from '../schema.ts'

/**
 * An ordered group of services of an environment; `deployment_order` counts from 0 without gaps.
 */
export const DeploymentStage = Type.Object({
  ...base,
  environment: Ref,
  name: Type.String(),
  description: Type.String(),
  deployment_order: Type.Integer(),
  services: Type.Array(
    Type.Object({ ...base, service_id: Uuid, service_type: Enum(serviceTypes), is_skipped: Type.Boolean() }),
  ),
})

const DeploymentStageRequest = Type.Object({
  name: Text(255, 1),
  description: Type.Optional(Nullable(Text(1000))),
})

const tag = 'Deployment Stage'
const path = '/deploymentStage/{deploymentStageId}'
const ofEnvironment = '/environment/{environmentId}/deploymentStage'
const onStage = { target: 'stage', tag } as const
const event = { type: 'UPDATE', target: 'ENVIRONMENT', sub: 'DEPLOYMENT_STAGE' } as const

/** PUT before or after another stage: the same operation twice. */
const move = <const P extends string, const H extends string>(place: P, handler: H) =>
  operation({
    ...onStage,
    method: 'PUT',
    path: `${path}/move${place}/{stageId}`,
    handler,
    access: 'write',
    event,
    summary:
      `Moves a deployment stage ${place.toLowerCase()} another one of its environment. Returns all stages in ` +
      'their new order.',
    reply: Results(DeploymentStage),
    status: 200,
  })

export const deploymentStageOperations = {
  ListEnvironmentDeploymentStage: operation({
    method: 'GET',
    path: ofEnvironment,
    handler: 'listStages',
    target: 'environment',
    access: 'read',
    tag,
    summary: 'Lists the deployment stages of an environment in deployment order, with their services.',
    reply: Results(DeploymentStage),
    status: 200,
  }),
  CreateEnvironmentDeploymentStage: operation({
    method: 'POST',
    path: ofEnvironment,
    handler: 'createStage',
    target: 'environment',
    access: 'write',
    tag,
    event: { ...event, type: 'CREATE' },
    summary: 'Creates a deployment stage after the last one. 409 if the environment has one of that name.',
    body: DeploymentStageRequest,
    reply: DeploymentStage,
    status: 200,
  }),
  getDeploymentStage: operation({
    ...onStage,
    method: 'GET',
    path,
    handler: 'getStage',
    access: 'read',
    summary: 'Returns a deployment stage with its services.',
    reply: DeploymentStage,
    status: 200,
  }),
  EditDeploymentStage: operation({
    ...onStage,
    method: 'PUT',
    path,
    handler: 'editStage',
    access: 'write',
    event,
    summary: 'Changes the name and description of a deployment stage.',
    body: DeploymentStageRequest,
    reply: DeploymentStage,
    status: 200,
  }),
  DeleteDeploymentStage: operation({
    ...onStage,
    method: 'DELETE',
    path,
    handler: 'deleteStage',
    access: 'write',
    event: { ...event, type: 'DELETE' },
    summary: 'Deletes a deployment stage. 409 if it has services or is the last one.',
    reply: NoBody,
    status: 204,
  }),
  AttachServiceToDeploymentStage: operation({
    ...onStage,
    method: 'PUT',
    path: `${path}/service/{serviceId}`,
    handler: 'attachService',
    access: 'write',
    event,
    summary:
      'Moves a service of the environment into a deployment stage. It takes part in deployments again unless ' +
      '`is_skipped` is set.',
    body: Type.Object({ is_skipped: Type.Optional(Nullable(Type.Boolean())) }),
    reply: Results(DeploymentStage),
    status: 200,
  }),
  MoveBeforeDeploymentStage: move('Before', 'moveStageBefore'),
  MoveAfterDeploymentStage: move('After', 'moveStageAfter'),
  getServiceDeploymentStage: operation({
    method: 'GET',
    path: '/service/{serviceId}/deploymentStage',
    handler: 'getStageOfService',
    target: 'service',
    access: 'read',
    tag,
    summary: 'Returns the deployment stage of a service.',
    reply: DeploymentStage,
    status: 200,
  }),
} as const
