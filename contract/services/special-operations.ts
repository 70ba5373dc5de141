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

/** The operations of a single kind of service, or of all kinds at once. */
export const specialOperations = {
  listEnvironmentServicesLinks: operation({
    ...read,
    path: '/environment/{environmentId}/link',
    handler: 'listEnvironmentLinks',
    target: 'environment',
    tag: 'Environment',
    summary: 'Lists the URLs of the services of an environment.',
    reply: Results(Link),
  }),
  listEnvironmentDatabaseConfig: operation({
    ...read,
    path: '/environment/{environmentId}/databaseConfiguration',
    handler: 'listDatabaseConfigurations',
    target: 'environment',
    tag: 'Database',
    summary: 'Lists the available types and versions of databases.',
    reply: Results(DatabaseConfiguration),
  }),
  listDatabaseVersion: operation({
    ...onDatabase,
    ...read,
    path: '/database/{databaseId}/version',
    handler: 'listDatabaseVersions',
    summary: 'Lists the versions that a database can change to.',
    reply: Results(Version),
  }),
  getDatabaseMasterCredentials: operation({
    ...onDatabase,
    method: 'GET',
    path: '/database/{databaseId}/masterCredentials',
    handler: 'getDatabaseCredentials',
    access: 'write',
    summary: 'Returns the credentials of the owner of a database. No other response has a password.',
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
    summary: 'Lists the Kubernetes services of a Helm chart. Empty if it is not running.',
    reply: Results(KubernetesService),
  }),
  listTerraformVersions: operation({
    ...read,
    path: '/terraform/availableVersion',
    handler: 'listTerraformVersions',
    target: 'caller',
    tag: 'Terraform',
    summary: 'Lists the versions of the Terraform engines, newest first.',
    reply: Results(TerraformVersion),
  }),
  getTerraformResources: operation({
    ...onTerraform,
    ...read,
    path: '/terraform/{terraformId}/terraformResources',
    handler: 'listTerraformResources',
    summary: 'Lists the resources of the last apply of a Terraform stack. Empty before the first.',
    reply: Results(TerraformResource),
  }),
  listJobRuns: operation({
    extension: true,
    ...onJob,
    ...read,
    path: '/job/{jobId}/run',
    handler: 'listJobRuns',
    summary: 'Lists the runs of a job, newest first, as many as its settings keep, at most 100.',
    reply: Results(JobRun),
  }),
  cleanFailedJob: operation({
    ...onJob,
    method: 'POST',
    path: '/job/{jobId}/cleanFailedJob',
    handler: 'cleanFailedJob',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'JOB' },
    summary: 'Deletes the failed runs of a job and returns their names. Keeps those of the last ten seconds.',
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
    summary: 'Deletes the failed runs of several jobs of an environment. Without `job_ids`, of all jobs.',
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
      'Deploys a tag to every container of the organization that uses the image and has automatic deployment. 404 if none does.',
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
    summary:
      'Deploys a tag to every job of the organization that uses the image and has automatic deployment. 404 if none does.',
    body: Image,
    reply: DeploymentAccepted,
    status: 202,
  }),
  previewContainerEnvironments: operation({
    method: 'POST',
    path: '/organization/{organizationId}/container/preview',
    handler: 'refuse',
    refuses:
      'Preview environments of images are not supported. Clone the environment and deploy the image in the copy.',
    target: 'organization',
    tag: 'Container',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: 'CONTAINER' },
    summary: 'Creates a preview environment of an image. Not supported: clone an environment instead.',
    body: Image,
    reply: NoBody,
    status: 202,
  }),
} as const
