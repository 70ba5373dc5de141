import assert from 'node:assert/strict'
import type { OperationName } from '../../../contract/contract.ts'
import { newId } from '../../../server/lib/id.ts'
import { freeze } from '../../../server/releases/index.ts'
import { findService } from '../../../server/services/index.ts'
import { addExecution, executionOf } from '../../support/execution.ts'
import type { Objects } from '../../support/fixture.ts'
import { containerBody, databaseBody, helmBody, jobBody, terraformBody } from '../../support/objects/kinds.ts'
import type { Platform } from '../../support/platform.ts'
import type { Good } from '../requests.ts'

type Prepare = NonNullable<Good['prepare']>
type IdName = 'containerId' | 'databaseId' | 'jobId' | 'helmId' | 'terraformId'

/** Creates a registry of A whose id bodies can name. */
const registryId = '0190a000-0000-7000-8000-0000000000a1'

const withRegistry: Prepare = async ({ database }, { organizationId }) => {
  await database`
    insert into container_registry (id, organization_id, created_at, updated_at, name, kind, url)
    values (${registryId}, ${organizationId}, now(), now(), 'of a container', 'GENERIC_CR',
    'https://registry.example.com')
    on conflict do nothing`
  return undefined
}

const clone = (of: string): Good => ({
  of: ({ environmentId }) => ({ body: { name: `a copy of a ${of}`, environment_id: environmentId } }),
})

/** Prepares a service as if its last deployment had succeeded; nothing runs. */
const deployed =
  (name: IdName) =>
  async ({ database }: Platform, { more }: Objects): Promise<undefined> => {
    await database`
      update service set state = 'DEPLOYED', release_id = id, last_deployment_date = now(), deployed_config_version = 1
      where id = ${more[name] ?? ''}`
  }

/** Records an earlier deployment, so that a rollback has a target. */
const rollback = (idOf: (objects: Objects) => string | undefined): Good => ({
  prepare: async ({ database }, objects) => {
    await addExecution(database, idOf(objects) ?? '')
    return undefined
  },
  of: (objects) => ({ body: { execution_id: executionOf(idOf(objects) ?? '') } }),
})

/** Turns off automatic deployment for all containers except the fixture's own. */
const alone: Prepare = async ({ database }, { more }) => {
  await database`
    update service set settings = settings || '{"auto_deploy": false}'
    where kind = 'container' and id <> ${more['containerId'] ?? ''}`
  return undefined
}

/** Records a successful run. */
const hasRun: Prepare = async ({ database }, { more }) => {
  await database`
    insert into job_run (id, service_id, release_id, "trigger", event, status, created_at, updated_at, started_at,
    finished_at)
    values (gen_random_uuid(), ${more['jobId'] ?? ''}, gen_random_uuid(), 'CRON', 'CRON', 'SUCCESS', now(), now(),
    now(), now())`
  return undefined
}

/** Makes the run of the fixture one that is in progress. */
const inProgress: Prepare = async ({ database }, { more }) => {
  await database`update job_run set status = 'RUNNING', finished_at = null where id = ${more['jobRunId'] ?? ''}`
  return undefined
}

const unable = (reason: RegExp, body?: object): Good => ({ ...(body && { body }), refused: { status: 400, reason } })
const charts = /^Helm charts need Kubernetes/
/** Prepares a stack with a deployed version whose last check has ended. */
const appliedStack: Prepare = async ({ database, rooms }, { more }) => {
  const service = await findService(database, more['terraformId'] ?? '')
  assert.ok(service)
  await database`update stack_run set status = 'SUCCESS' where service_id = ${service.id}`
  const { id } = await freeze(database, rooms.vault, service, { id: newId(), commit: null, now: new Date() })
  await database`
    update service set state = 'DEPLOYED', release_id = ${id}, last_deployment_date = now() where id = ${service.id}`
  return undefined
}

const stacks = /^Terraform stacks need an image of their engine/

export const kinds: Partial<Record<OperationName, Good>> = {
  createContainer: { body: containerBody('web', registryId), prepare: withRegistry },
  createDatabase: { body: databaseBody('orders') },
  createJob: { body: jobBody('nightly') },
  createHelm: { body: helmBody('chart') },
  createTerraform: { body: terraformBody('stack') },
  editContainer: { body: { tag: '1.1', min_running_instances: 2, max_running_instances: 3 } },
  editDatabase: { body: { version: '17', storage: 20 } },
  editJob: { body: { max_nb_restart: 3 } },
  editHelm: { body: { timeout_sec: 60 } },
  editTerraform: { body: { timeout_sec: 60 } },
  checkTerraformDrift: { prepare: appliedStack },
  editTerraformDriftPolicy: { body: { cron_at: '0 4 * * *', timezone: 'Europe/Paris' } },
  cloneApplication: clone('application'),
  cloneContainer: clone('container'),
  cloneDatabase: clone('database'),
  cloneJob: clone('job'),
  cloneHelm: clone('helm'),
  cloneTerraform: clone('terraform'),
  deployContainer: { body: { image_tag: '1.2' } },
  deployJob: { body: {}, query: { forceEvent: 'CRON' } },
  deployHelm: unable(charts, {}),
  deployTerraform: unable(stacks, {}),
  redeployContainer: { prepare: deployed('containerId') },
  redeployDatabase: { prepare: deployed('databaseId') },
  redeployJob: { prepare: deployed('jobId') },
  redeployHelm: unable(charts),
  redeployTerraform: unable(stacks),
  rollbackApplication: rollback(({ applicationId }) => applicationId),
  rollbackContainer: rollback(({ more }) => more['containerId']),
  rollbackDatabase: rollback(({ more }) => more['databaseId']),
  rollbackJob: rollback(({ more }) => more['jobId']),
  rollbackHelm: unable(charts, { execution_id: 'none' }),
  rollbackTerraform: unable(stacks, { execution_id: 'none' }),
  stopContainer: { prepare: deployed('containerId') },
  stopDatabase: { prepare: deployed('databaseId') },
  stopJob: { prepare: deployed('jobId') },
  stopHelm: { prepare: deployed('helmId') },
  rebootContainer: { prepare: deployed('containerId') },
  rebootDatabase: { prepare: deployed('databaseId') },
  uninstallContainer: { prepare: deployed('containerId') },
  uninstallDatabase: { prepare: deployed('databaseId') },
  uninstallJob: { prepare: deployed('jobId') },
  uninstallHelm: { prepare: deployed('helmId') },
  uninstallTerraform: { prepare: deployed('terraformId') },
  listContainerDeploymentHistoryV2: { empty: true },
  listDatabaseDeploymentHistoryV2: { empty: true },
  listJobDeploymentHistoryV2: { empty: true },
  listHelmDeploymentHistoryV2: { empty: true },
  listTerraformDeploymentHistoryV2: { empty: true },
  listContainerLog: { empty: true },
  listHelmLinks: { empty: true },
  getHelmKubernetesServices: { empty: true },
  getTerraformResources: { empty: true },
  listJobRuns: { prepare: hasRun },
  cancelJobRun: { prepare: inProgress },
  cleanFailedJobs: { body: {} },
  autoDeployContainerEnvironments: { body: { image_name: 'library/hello', tag: '2.0' }, prepare: alone },
  autoDeployJobEnvironments: {
    body: { image_name: 'library/nobody-has-it', tag: '2.0' },
    refused: { status: 404, reason: /^image_name: no job/ },
  },
  previewContainerEnvironments: unable(/^Preview environments of images/, { image_name: 'library/hello', tag: '2.0' }),
}
