import assert from 'node:assert/strict'
import type { OperationName } from '../../../contract/contract.ts'
import { newId } from '../../../server/lib/id.ts'
import { addCanaryStep } from '../../support/canary-step.ts'
import { addExecution, executionOf } from '../../support/execution.ts'
import type { Objects } from '../../support/fixture.ts'
import type { Platform } from '../../support/platform.ts'
import type { Good } from '../requests.ts'

/** Prepares services as if their last deployment had succeeded; nothing runs. */
const deployed = async ({ database }: Platform, { applicationId }: Objects): Promise<undefined> => {
  await database`
    update service set state = 'DEPLOYED', release_id = id, last_deployment_date = now(), deployed_config_version = 1
    where id = ${applicationId}`
}

/** Creates a request that waits behind one that never starts, so it keeps waiting. */
async function queued({ call, a, database }: Platform, { environmentId, applicationId }: Objects) {
  const blocker = '0190a000-0000-7000-8000-00000000b10c'
  await database`
    insert into workflow (id, kind, key, state, owner, lease_until, input)
    values (${blocker}, 'somebody else’s', ${environmentId}, 'running', 'nobody', 'infinity', '{}')
    on conflict (id) do update set key = excluded.key`
  const answer = await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})
  assert.equal(answer.status, 202, answer.text)
  return Object(answer.body).id
}

/** Records a successful deployment of a service. */
const onceDeployed = (kind: 'container' | 'database' | 'job' | 'helm'): Good => ({
  prepare: async (platform) => {
    const fresh = await platform.addObjects(platform.a)
    const { database } = platform
    const { environmentId, more } = fresh
    const [id, serviceId] = [newId(), more[`${kind}Id`] ?? '']
    await database`
      insert into workflow (id, kind, key, state, input) values (${id}, 'deployment', ${environmentId}, 'done', '{}')`
    await database`
      insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
        created_at, updated_at, started_at, finished_at)
      values (${id}, ${environmentId}, ${id}, 'DEPLOY', 'SUCCESS', 'API', 'fixture', 'fixture', now(), now(), now(),
      now())`
    await database`
      insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order, state,
      status,
        former_state, started_at, finished_at)
      values (${id}, ${serviceId}, ${kind}, 'fixture', 'app://icon', 'stage', 0, 'DEPLOYED', 'SUCCESS', 'READY',
      now(), now())`
    return fresh
  },
})

/** A service in a canary step. */
const inStep: Good = {
  prepare: async (platform) => {
    const fresh = await platform.addObjects(platform.a)
    await addCanaryStep(platform.database, fresh.applicationId)
    return fresh
  },
}

const stage = { body: { name: 'Another stage', description: null } }
const hours = {
  timezone: 'Europe/Paris',
  start_time: '1970-01-01T08:00:00.000Z',
  stop_time: '1970-01-01T19:00:00.000Z',
  weekdays: ['MONDAY', 'TUESDAY'],
}
const projectRule = (clusterId: string) => ({
  body: { ...hours, name: 'Another rule', mode: 'PREVIEW', cluster_id: clusterId, wildcard: 'pr-*' },
})
const ids = { of: ({ applicationId }: Objects) => ({ body: { application_ids: [applicationId] } }) }

export const environments: Partial<Record<OperationName, Good>> = {
  CreateEnvironmentDeploymentStage: stage,
  EditDeploymentStage: stage,
  AttachServiceToDeploymentStage: { body: { is_skipped: true } },
  editEnvironmentDeploymentRule: { body: { ...hours, auto_stop: true } },
  createDeploymentRule: { of: ({ clusterId }) => projectRule(clusterId) },
  editProjectDeployemtnRule: { of: ({ clusterId }) => projectRule(clusterId) },
  updateDeploymentRulesPriorityOrder: {
    of: ({ more }) => ({ body: { project_deployment_rule_ids_in_order: [more['project.deploymentRuleId']] } }),
  },
  cloneEnvironment: { body: { name: 'A copy', mode: 'PREVIEW' } },
  uninstallEnvironment: { prepare: deployed },
  deployAllServices: {
    of: ({ applicationId }) => ({ body: { applications: [{ application_id: applicationId }] } }),
  },
  rollbackSelectedServices: {
    prepare: async ({ database }, { applicationId }) => {
      await addExecution(database, applicationId)
      return undefined
    },
    of: ({ applicationId }) => ({
      body: { services: [{ id: applicationId, execution_id: executionOf(applicationId) }] },
    }),
  },
  rebootServices: { ...ids, prepare: deployed },
  stopSelectedServices: { ...ids, prepare: deployed },
  deleteSelectedServices: ids,
  uninstallSelectedServices: { ...ids, prepare: deployed },
  cancelDeploymentRequest: {
    prepare: async (platform, objects) => {
      const deploymentRequestId = await queued(platform, objects)
      return { more: { ...objects.more, deploymentRequestId } }
    },
  },
  listDeploymentRequestByServiceId: {
    prepare: async (platform) => {
      const fresh = await platform.addObjects(platform.a)
      await queued(platform, fresh)
      return fresh
    },
  },
  listEnvironmentTraffic: {
    prepare: async ({ database }, { applicationId }) => {
      await database`
        insert into traffic_window (service_id, seconds, starts_at, counts)
        values (${applicationId}, 60, now(), array_fill(1::bigint, array[47])) on conflict do nothing`
      return undefined
    },
  },
  compareServiceDeployments: {
    prepare: async ({ database }, { applicationId }) => {
      await addExecution(database, applicationId)
      return undefined
    },
    of: ({ applicationId }) => ({ query: { from: executionOf(applicationId), to: executionOf(applicationId) } }),
  },
  getServiceCanary: inStep,
  promoteServiceCanary: inStep,
  listContainerDeploymentHistory: onceDeployed('container'),
  listDatabaseDeploymentHistory: onceDeployed('database'),
  listJobDeploymentHistory: onceDeployed('job'),
  listHelmDeploymentHistory: onceDeployed('helm'),
  getDeploymentStatusByDeploymentRequestId: {
    of: ({ more }) => ({ query: { deploymentRequestId: more['deploymentRequestId'] ?? '' } }),
  },
}
