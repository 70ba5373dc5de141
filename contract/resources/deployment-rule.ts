import { environmentModes } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, List, NoBody, Nullable, Results, Text, Timestamp, Type, Uuid } from '../schema.ts'

export const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'] as const
export type Weekday = (typeof weekdays)[number]

/**
 * Only the time of day counts, in UTC: `1970-01-01T08:00:00.000Z` is eight o'clock on the clocks of
 * `timezone`.
 */
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
const EnvironmentDeploymentRuleWithMatch = Type.Object({
  ...EnvironmentDeploymentRule.properties,
  matching_project_rule_id: Nullable({
    ...Uuid,
    description: 'the first rule of the project that matches the name now; it acts on new environments only',
  }),
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
  wildcard: Type.String({ maxLength: 255, description: 'matches names; `*` is any text, `?` one character' }),
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
    summary: 'Returns the running hours of an environment.',
    reply: EnvironmentDeploymentRuleWithMatch,
    status: 200,
  }),
  editEnvironmentDeploymentRule: operation({
    ...onEnvironment,
    method: 'PUT',
    path: '/environment/{environmentId}/deploymentRule/{deploymentRuleId}',
    handler: 'editEnvironmentRule',
    access: 'write',
    event: { ...event, target: 'ENVIRONMENT' },
    summary: 'Changes the running hours of an environment. Omitted flags are unchanged.',
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
    summary:
      'Lists the deployment rules of a project in their order. A new environment gets its mode, cluster and ' +
      'hours from the first rule that matches its name.',
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
    summary: 'Creates a deployment rule after the last one. Existing environments are unchanged.',
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
    summary: 'Reorders the deployment rules of a project. Omitted rules follow in their current order.',
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
    summary: 'Returns a deployment rule.',
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
    summary: 'Changes a deployment rule. Existing environments are unchanged.',
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
    summary: 'Deletes a deployment rule. Existing environments are unchanged.',
    reply: NoBody,
    status: 204,
  }),
} as const
