import { environmentModes, serviceTypes } from '../enums.ts'
import { operation } from '../operation.ts'
import { base, Enum, Nullable, Ref, Results, Type, Uuid } from '../schema.ts'
import { kindNames, serviceKinds } from '../services/kinds.ts'
import { EnvironmentStatus } from './status.ts'

/** A service of any kind with its settings. `service_type` names the kind. */
const AnyService = Type.Union(kindNames.map((kind) => serviceKinds[kind].record))

/** A service in lists across environments. */
const ServiceLight = Type.Object({
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  icon_uri: Type.String(),
  service_type: Enum(serviceTypes),
  project_id: Uuid,
  project_name: Type.String(),
  environment_id: Uuid,
  environment_name: Type.String(),
  cluster_id: Uuid,
  job_type: Type.Optional(Enum(['CRON', 'LIFECYCLE'])),
})

const EnvironmentOverview = Type.Object({
  ...base,
  name: Type.String(),
  mode: Enum(environmentModes),
  cluster: Type.Object({
    id: Uuid,
    name: Type.String(),
    cloud_provider: Type.String(),
    is_demo: Type.Boolean(),
  }),
  services_overview: Type.Object({ service_count: Type.Integer(), managed_by: Enum(['QOVERY', 'ARGOCD', 'MIXED']) }),
  deployment_status: Nullable(EnvironmentStatus),
})

const read = { method: 'GET', access: 'read', status: 200 } as const
const ofProject = { ...read, target: 'project', tag: 'Environments' } as const
const ofOrganization = { ...read, target: 'organization', tag: 'Organization Main Calls' } as const

export const overviewOperations = {
  listServicesByEnvironmentId: operation({
    ...read,
    target: 'environment',
    tag: 'Environment Main Calls',
    path: '/environment/{environmentId}/services',
    handler: 'listAllServices',
    summary: 'Lists the services of an environment, of every kind, oldest first.',
    reply: Results(AnyService),
  }),
  getProjectEnvironmentsStatus: operation({
    ...ofProject,
    path: '/project/{projectId}/environment/status',
    handler: 'listProjectStatuses',
    summary: 'Lists the status of each environment of a project.',
    reply: Results(EnvironmentStatus),
  }),
  getProjectEnvironmentServiceNumber: operation({
    ...ofProject,
    path: '/project/{projectId}/environment/stats',
    handler: 'listEnvironmentStats',
    summary: 'Returns the number of services in each environment of a project.',
    reply: Results(Type.Object({ id: Uuid, service_total_number: Type.Integer() })),
  }),
  getProjectEnvironmentsOverview: operation({
    ...ofProject,
    path: '/project/{projectId}/environment/overview',
    handler: 'listEnvironmentOverviews',
    summary: 'Lists the environments of a project with cluster, number of services and status.',
    reply: Results(EnvironmentOverview),
  }),
  getOrganizationProjectStats: operation({
    ...ofOrganization,
    tag: 'Projects',
    path: '/organization/{organizationId}/project/stats',
    handler: 'listProjectStats',
    summary: 'Returns the number of environments and services in each project of an organization.',
    reply: Results(
      Type.Object({ id: Uuid, service_total_number: Type.Integer(), environment_total_number: Type.Integer() }),
    ),
  }),
  listServicesByOrganizationId: operation({
    ...ofOrganization,
    path: '/organization/{organizationId}/services',
    handler: 'listServicesOfOrganization',
    summary: 'Lists the services of an organization, or of one of its projects, environments or clusters.',
    query: Type.Object({
      project_id: Type.Optional(Uuid),
      environment_id: Type.Optional(Uuid),
      cluster_id: Type.Optional(Uuid),
    }),
    reply: Results(ServiceLight),
  }),
  listEnvironmentsByOrganizationId: operation({
    ...ofOrganization,
    path: '/organization/{organizationId}/environments',
    handler: 'listEnvironmentsOfOrganization',
    summary: 'Lists the environments of an organization, by project, oldest first.',
    reply: Results(
      Type.Object({ ...base, name: Type.String(), organization: Ref, project: Ref, mode: Enum(environmentModes) }),
    ),
  }),
} as const
