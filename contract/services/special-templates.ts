import { operation } from '../operation.ts'
import { JobRun, JobTimetable } from '../resources/job-run.ts'
import { DeploymentAccepted } from '../resources/status.ts'
import { List, Results, Type, Uuid } from '../schema.ts'
import { ChartDiff, ChartDiffRun } from './chart-records.ts'
import { Credentials, Version } from './database.ts'
import { KubernetesService } from './helm.ts'
import { type KindName, serviceKinds } from './kinds.ts'
import { onService, pathOf } from './on-service.ts'
import { ImageTag } from './special-operations.ts'

/** The operations that one or two kinds of services have. */

const read = { method: 'GET', access: 'read', status: 200 } as const
const pods = Type.Array(Type.String())

export const databaseTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Version': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/version`,
    handler: 'listDatabaseVersions',
    summary: 'Lists the versions that a database can change to.',
    reply: Results(Version),
  }),
  'get{Kind}MasterCredentials': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/masterCredentials`,
    handler: 'getDatabaseCredentials',
    access: 'write',
    summary: 'Returns the credentials of the owner of a database. No other response has a password.',
    reply: Credentials,
  }),
})

export const chartTemplates = <const N extends KindName>(name: N) => ({
  'get{Kind}KubernetesServices': operation({
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/listServices`,
    handler: 'listChartServices',
    summary: 'Lists the Kubernetes services of a Helm chart. Empty if it is not running.',
    reply: Results(KubernetesService),
  }),
  'list{Kind}Diffs': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/diff`,
    handler: 'listChartDiffs',
    summary:
      'Lists the diffs of a Helm chart, newest first, at most 20. A deployment with `forceEvent=DIFF` makes one.',
    reply: Results(ChartDiffRun),
  }),
  'get{Kind}Diff': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/diff/{diffId}`,
    handler: 'getChartDiff',
    summary: 'Returns the objects that a deployment of a Helm chart would create, change and delete, without secrets.',
    reply: ChartDiff,
  }),
})

export const jobTemplates = <const N extends KindName>(name: N) => ({
  'list{Kind}Runs': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/run`,
    handler: 'listJobRuns',
    summary: 'Lists the runs of a job, newest first, as many as its settings keep, at most 100.',
    reply: Results(JobRun),
  }),
  'get{Kind}Timetable': operation({
    extension: true,
    ...onService(name),
    ...read,
    path: `${pathOf(name)}/timetable`,
    handler: 'getJobTimetable',
    summary:
      'Returns the timetable that a job follows, with its next five times. A job that is not deployed or is ' +
      'stopped follows none.',
    reply: JobTimetable,
  }),
  'cancel{Kind}Run': operation({
    extension: true,
    ...onService(name),
    method: 'POST',
    path: `${pathOf(name)}/run/{jobRunId}/cancel`,
    handler: 'cancelJobRun',
    access: 'deploy',
    event: { type: 'TRIGGER_CANCEL', target: 'JOB' },
    summary:
      'Ends a run of the timetable of a job, which continues with its next time. 409 if the run has ended, or ' +
      'belongs to a deployment.',
    reply: JobRun,
    status: 202,
  }),
  'cleanFailed{Kind}': operation({
    ...onService(name),
    method: 'POST',
    path: `${pathOf(name)}/cleanFailed${serviceKinds[name].noun}`,
    handler: 'cleanFailedJob',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'JOB' },
    summary: 'Deletes the failed runs of a job and returns their names. Keeps those of the last ten seconds.',
    reply: Type.Object({ clean_kubernetes_jobs: pods }),
    status: 200,
  }),
  'cleanFailed{Kind}s': operation({
    ...onService(name),
    method: 'POST',
    path: `/environment/{environmentId}/cleanFailed${serviceKinds[name].noun}s`,
    handler: 'cleanFailedJobs',
    target: 'environment',
    access: 'deploy',
    event: { type: 'MAINTENANCE', target: 'ENVIRONMENT' },
    summary: 'Deletes the failed runs of several jobs of an environment. Without `job_ids`, of all jobs.',
    body: Type.Object({ job_ids: Type.Optional(List(Uuid, 1000)) }),
    reply: Type.Object({ clean_job_ids: Type.Array(Uuid), clean_kubernetes_jobs: pods }),
    status: 200,
  }),
})

export const imageTemplates = <const N extends KindName>(name: N) => ({
  'autoDeploy{Kind}Environments': operation({
    ...onService(name),
    method: 'POST',
    path: `/organization/{organizationId}/${name}/deploy`,
    handler: 'deployImage',
    target: 'organization',
    access: 'deploy',
    event: { type: 'TRIGGER_DEPLOY', target: serviceKinds[name].type },
    summary:
      `Deploys a tag to every ${name} of the organization that uses the image and has automatic deployment. ` +
      '404 if none does.',
    body: ImageTag,
    reply: DeploymentAccepted,
    status: 202,
  }),
})
