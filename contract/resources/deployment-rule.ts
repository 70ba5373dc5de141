import { environmentModes } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, List, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
export type Weekday = (typeof weekdays)[number]

/** Only the time of day counts, in UTC: `1970-01-01T08:00:00.000Z` is eight o'clock on the clocks of `timezone`. */
const timeOfDay = { sent: Type.String({ format: 'date-time', maxLength: 40 }), answered: Timestamp }
const schedule = <T extends keyof typeof timeOfDay>(way: T) => ({
  timezone: Text(64, 1),
  start_time: timeOfDay[way],
  stop_time: timeOfDay[way],
})
const flag = Type.Optional(Nullable(Type.Boolean()))
const days = List(Enum(weekdays), 7)

export const EnvironmentDeploymentRule = Type.Object({
  ...base,
  on_demand_preview: Type.Boolean(),
  auto_preview: Type.Boolean(),
  auto_stop: Type.Boolean(),
  ...schedule('answered'),
  weekdays: Type.Array(Enum(weekdays)),
})
const EnvironmentDeploymentRuleEdit = Type.Object({
  on_demand_preview: flag,
  auto_preview: flag,
  auto_stop: flag,
  ...schedule('sent'),
  weekdays: days,
})

export const ProjectDeploymentRule = Type.Object({
  ...base,
  name: Type.String(),
  description: Type.String(),
  mode: Enum(environmentModes),
  cluster_id: Uuid,
  auto_stop: Type.Boolean(),
  ...schedule('answered'),
  weekdays: Type.Array(Enum(weekdays)),
  wildcard: Type.String(),
  priority_index: Type.Integer(),
})
const ProjectDeploymentRuleRequest = Type.Object({
  name: Text(255, 1),
  description: Type.Optional(Nullable(Text(1000))),
  mode: Enum(environmentModes),
  cluster_id: Uuid,
  auto_stop: flag,
  ...schedule('sent'),
  weekdays: days,
  wildcard: Type.String({ maxLength: 255, description: 'of names; `*` stands for any text, `?` for one character' }),
})

const path = '/project/{projectId}/deploymentRule'
const onProject = { target: 'project', tag: 'Project Deployment Rule' } as const
const onEnvironment = { target: 'environment', tag: 'Environment Deployment Rule' } as const
const event = { type: 'UPDATE', target: 'PROJECT', sub: 'DEPLOYMENT_RULE' } as const

export const deploymentRuleOperations = {
  getEnvironmentDeploymentRule: operation({
    ...onEnvironment,
    method: 'GET',
    path: '/environment/{environmentId}/deploymentRule',
    handler: 'getEnvironmentRule',
    access: 'read',
    summary: 'When the environment is to run.',
    reply: EnvironmentDeploymentRule,
    status: 200,
  }),
  editEnvironmentDeploymentRule: operation({
    ...onEnvironment,
    method: 'PUT',
    path: '/environment/{environmentId}/deploymentRule/{deploymentRuleId}',
    handler: 'editEnvironmentRule',
    access: 'write',
    event: { ...event, target: 'ENVIRONMENT' },
    summary: 'Changes when the environment is to run; a flag that is left out stays.',
    body: EnvironmentDeploymentRuleEdit,
    reply: EnvironmentDeploymentRule,
    status: 200,
  }),
  listProjectDeploymentRules: operation({
    ...onProject,
    method: 'GET',
    path,
    handler: 'listProjectRules',
    access: 'read',
    summary: 'Mode, cluster and hours of new environments; the first rule whose wildcard matches the name counts.',
    reply: Results(ProjectDeploymentRule),
    status: 200,
  }),
  createDeploymentRule: operation({
    ...onProject,
    method: 'POST',
    path,
    handler: 'createProjectRule',
    access: 'write',
    event: { ...event, type: 'CREATE' },
    summary: 'Makes a rule behind the last one; environments that are there keep theirs.',
    body: ProjectDeploymentRuleRequest,
    reply: ProjectDeploymentRule,
    status: 201,
  }),
  updateDeploymentRulesPriorityOrder: operation({
    ...onProject,
    method: 'PUT',
    path: `${path}/order`,
    handler: 'orderProjectRules',
    access: 'write',
    event,
    summary: 'Puts rules first in the order given; those left out follow in the order that they had.',
    body: Type.Object({ project_deployment_rule_ids_in_order: List(Uuid, 1000) }),
    reply: NoBody,
    status: 200,
  }),
  getProjectDeploymentRule: operation({
    ...onProject,
    method: 'GET',
    path: `${path}/{deploymentRuleId}`,
    handler: 'getProjectRule',
    access: 'read',
    summary: 'One rule.',
    reply: ProjectDeploymentRule,
    status: 200,
  }),
  editProjectDeployemtnRule: operation({
    ...onProject,
    method: 'PUT',
    path: `${path}/{deploymentRuleId}`,
    handler: 'editProjectRule',
    access: 'write',
    event,
    summary: 'Changes a rule; environments that are there keep theirs.',
    body: ProjectDeploymentRuleRequest,
    reply: ProjectDeploymentRule,
    status: 200,
  }),
  deleteProjectDeploymentRule: operation({
    ...onProject,
    method: 'DELETE',
    path: `${path}/{deploymentRuleId}`,
    handler: 'deleteProjectRule',
    access: 'write',
    event: { ...event, type: 'DELETE' },
    summary: 'Deletes a rule; environments that are there keep theirs.',
    reply: NoBody,
    status: 204,
  }),
} as const
