import assert from 'node:assert/strict'
import type { Database } from '../database/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { newId, newRandomId } from '../lib/id.ts'
import {
  createEnvironments,
  type EnvironmentRow,
  findEnvironment,
  insertOrganization,
  type ProjectRow,
} from '../organizations/index.ts'
import { createProjectRules } from './project-rules.ts'
import { createRules } from './rules.ts'
import { createStages } from './stages.ts'

/** An organization with a project and a cluster for this room's tests. */
export async function addGround(database: Database) {
  const [organization_id, cluster_id, id, created_at] = [newId(), newId(), newId(), clock.now()]
  await insertOrganization(database, { id: organization_id, name: organization_id, now: created_at })
  await database`
    insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes)
    values (${cluster_id}, ${organization_id}, now(), now(), 'local', 'here', 'ON_PREMISE', 'SELF_MANAGED')`
  const named = { name: 'shop', description: '' }
  await database`
    insert into project ${database({ id, organization_id, ...named, created_at, updated_at: created_at })}`
  const project: ProjectRow = {
    id,
    organization_id,
    ...named,
    created_at,
    updated_at: created_at,
    associated_environments_count: 0,
  }
  const findCluster = async (_sql: unknown, _organization: string, wanted: string | undefined) => {
    const [row] = await database<{ id: string }[]>`
      select id from cluster where id = ${wanted ?? cluster_id} and organization_id = ${organization_id}`
    return row?.id
  }
  const rules = createRules({ database, clock })
  const environments = createEnvironments({ database, clock, findCluster, rules })
  return {
    project,
    cluster_id,
    environments,
    rules,
    stages: createStages({ database, clock }),
    projectRules: createProjectRules({ database, clock, findCluster }),

    async addEnvironment(name: string): Promise<EnvironmentRow> {
      const made = await environments.create(project, newId(), { name })
      const row = await findEnvironment(database, made.id)
      assert.ok(row)
      return row
    },

    /** Inserts a service with minimal settings. */
    async addService(environment: EnvironmentRow, name: string): Promise<string> {
      const serviceId = newRandomId()
      await database`
        insert into service (id, environment_id, stage_id, created_at, updated_at, kind, name, settings)
        select ${serviceId}, ${environment.id}, id, now(), now(), 'application', ${name}, '{}' from deployment_stage
        where environment_id = ${environment.id} order by deployment_order desc limit 1`
      return serviceId
    },
  }
}
