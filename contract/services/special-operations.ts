import { operation } from '../operation.ts'
import { JobRun } from '../resources/job-run.ts'
import { Link } from '../resources/log.ts'
import { DeploymentAccepted } from '../resources/status.ts'
import { List, NoBody, Results, Text, Type, Uuid } from '../schema.ts'
import { Credentials, DatabaseConfiguration, Version } from './database.ts'
import { KubernetesService } from './helm.ts'
import { TerraformResource, TerraformVersion } from './terraform.ts'

const onDatabase = { target: 'service', kind: 'database', tag: 'Database' } as const
const onJob = { target: 'service', kind: 'job', tag: 'Job' } as const
const onTerraform = { target: 'service', kind: 'terraform', tag: 'Terraform' } as const
const read = { method: 'GET', access: 'read', status: 200 } as const
const Image = Type.Object({ image_name: Text(1000, 1), tag: Text(128, 1) })
const pods = Type.Array(Type.String())

/** What only one kind of service, or all of them at once, can be asked. */
export const specialOperations = {
  listEnvironmentServicesLinks: operation({
    ...read,
    path: '/environment/{environmentId}/link',
    handler: 'listEnvironmentLinks',
    target: 'environment',
    tag: 'Environment',
    summary: 'The addresses where services of the environment answer.',
    reply: Results(Link),
  }),
  listEnvironmentDatabaseConfig: operation({
    ...read,
    path: '/environment/{environmentId}/databaseConfiguration',
    handler: 'listDatabaseConfigurations',
    target: 'environment',
    tag: 'Database',
    summary: 'The types and versions of databases that can be made.',
    reply: Results(DatabaseConfiguration),
  }),
  listDatabaseVersion: operation({
    ...onDatabase,
    ...read,
    path: '/database/{databaseId}/version',
    handler: 'listDatabaseVersions',
    summary: 'The versions that the database can be changed to.',
    reply: Results(Version),
  }),
  getDatabaseMasterCredentials: operation({
    ...onDatabase,
    method: 'GET',
    path: '/database/{databaseId}/masterCredentials',
    handler: 'getDatabaseCredentials',
    access: 'write',
    summary: 'How its owner signs in. It is the one answer that has a password.',
    reply: Credentials,
    status: 200,
  }),
  getHelmKubernetesServices: operation({
    ...read,
    path: '/helm/{helmId}/listServices',
    handler: 'listChartServices',
    target: 'service',
    kind: 'helm',
    tag: 'Helm',
    summary: 'The services that the chart runs; none where it does not run.',
    reply: Results(KubernetesService),
  }),
  listTerraformVersions: operation({
    ...read,
    path: '/terraform/availableVersion',
    handler: 'listTerraformVersions',
    target: 'caller',
    tag: 'Terraform',
    summary: 'The versions of the engines, newest first.',
    reply: Results(TerraformVersion),
  }),
  getTerraformResources: operation({
    ...onTerraform,
    ...read,
    path: '/terraform/{terraformId}/terraformResources',
    handler: 'listTerraformResources',
    summary: 'What its last apply made; none before.',
    reply: Results(TerraformResource),
  }),
  listJobRuns: operation({
    extension: true,
    ...onJob,
    ...read,
    path: '/job/{jobId}/run',
    handler: 'listJobRuns',
    summary: 'Its runs, newest first; as many as its settings keep, at most 100.',
    reply: Results(JobRun),
  }),
  cleanFailedJob: operation({
    ...onJob,
    method: 'POST',
    path: '/job/{jobId}/cleanFailedJob',
    handler: 'cleanFailedJob',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'JOB' },
    summary: 'Forgets its runs that failed, and names them; those of the last ten seconds stay.',
    reply: Type.Object({ clean_kubernetes_jobs: pods }),
    status: 200,
  }),
  cleanFailedJobs: operation({
    method: 'POST',
    path: '/environment/{environmentId}/cleanFailedJobs',
    handler: 'cleanFailedJobs',
    target: 'environment',
    kind: 'job',
    tag: 'Job',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'ENVIRONMENT' },
    summary: 'The same for several jobs of an environment; without `job_ids` for all of them.',
    body: Type.Object({ job_ids: Type.Optional(List(Uuid, 1000)) }),
    reply: Type.Object({ clean_job_ids: Type.Array(Uuid), clean_kubernetes_jobs: pods }),
    status: 200,
  }),
  autoDeployContainerEnvironments: operation({
    method: 'POST',
    path: '/organization/{organizationId}/container/deploy',
    handler: 'deployImage',
    target: 'organization',
    kind: 'container',
    tag: 'Container',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: 'CONTAINER' },
    summary:
      'Deploys this tag in every container of the organization that has the image and deploys by itself. 404 when none has.',
    body: Image,
    reply: DeploymentAccepted,
    status: 202,
  }),
  autoDeployJobEnvironments: operation({
    method: 'POST',
    path: '/organization/{organizationId}/job/deploy',
    handler: 'deployImage',
    target: 'organization',
    kind: 'job',
    tag: 'Job',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: 'JOB' },
    summary: 'The same for jobs.',
    body: Image,
    reply: DeploymentAccepted,
    status: 202,
  }),
  previewContainerEnvironments: operation({
    method: 'POST',
    path: '/organization/{organizationId}/container/preview',
    handler: 'refuse',
    refuses:
      'Preview environments of images are not made here: clone the environment and deploy the image in the copy.',
    target: 'organization',
    tag: 'Container',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: 'CONTAINER' },
    summary: 'Refused: previews are made by cloning an environment.',
    body: Image,
    reply: NoBody,
    status: 202,
  }),
} as const
