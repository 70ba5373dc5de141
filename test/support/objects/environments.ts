import { insertEnvironmentCopy } from '../../../server/environments/copy-record-store.ts'
import { newId } from '../../../server/lib/id.ts'
import { findEnvironment } from '../../../server/organizations/index.ts'
import type { Contribution } from '../fixture.ts'

/** Adds a stage, rules, and an environment with a finished deployment. */
export const addEnvironmentObjects: Contribution = async ({ database, rooms, tenant, objects, suffix }) => {
  const { environmentId, projectId, organizationId, applicationId } = objects
  await insertEnvironmentCopy(database, { id: environmentId, sourceId: newId(), withData: false, now: new Date() })
  const stage = await rooms.stages.create({ id: environmentId }, { name: `smoke tests ${suffix}` })
  const [first] = await rooms.stages.list(environmentId)
  const rule = await rooms.rules.get(environmentId)
  const ofProject = await rooms.projectRules.create(
    { id: projectId, organization_id: organizationId },
    {
      name: `rule ${suffix}`,
      mode: 'PREVIEW',
      cluster_id: tenant.clusterId,
      timezone: 'Europe/Paris',
      start_time: '1970-01-01T08:00:00.000Z',
      stop_time: '1970-01-01T19:00:00.000Z',
      weekdays: ['MONDAY'],
      wildcard: 'no environment is called this',
    },
  )
  const environment = await findEnvironment(database, environmentId)
  if (!first || !environment) throw new Error('the fixture has no environment')
  const project = { ...environment, id: projectId, description: '', associated_environments_count: 1 }
  const other = await rooms.environments.create(project, tenant.clusterId, { name: `deployed ${suffix}` })
  const requestId = newId()
  await database`
    insert into workflow (id, kind, key, state, input) values (${requestId}, 'deployment', ${other.id}, 'done', '{}')`
  await database`
    insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by, caller,
      created_at, updated_at, started_at, finished_at)
    values (${requestId}, ${other.id}, ${`${other.id}-1`}, 'DEPLOY', 'SUCCESS', 'API', 'fixture', 'fixture',
      now(), now(), now(), now())`
  return {
    deploymentStageId: stage.id,
    'deploymentStage.stageId': first.id,
    serviceId: applicationId,
    'environment.deploymentRuleId': rule.id,
    'project.deploymentRuleId': ofProject.id,
    deploymentRequestId: requestId,
  }
}
