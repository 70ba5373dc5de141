import type { Database } from '../database/index.ts'
import { newId, newRandomId } from '../lib/id.ts'
import type { EnvironmentScope, ProjectScope, ServiceScope } from './scope.ts'

/** An organization with one project, one environment and one service, as scopes. */
export interface Place {
  readonly project: ProjectScope
  readonly environment: EnvironmentScope
  readonly service: ServiceScope
}

export async function addPlace(sql: Database): Promise<Place> {
  const [organizationId, projectId, cluster] = [newId(), newId(), newId()]
  await sql`
    insert into organization (id, created_at, updated_at, name)
    values (${organizationId}, now(), now(), ${organizationId})`
  await sql`
    insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes)
    values (${cluster}, ${organizationId}, now(), now(), 'built-in', 'local', 'ON_PREMISE', 'SELF_MANAGED')`
  await sql`
    insert into project (id, organization_id, created_at, updated_at, name)
    values (${projectId}, ${organizationId}, now(), now(), 'project')`
  const project: ProjectScope = { scope: 'PROJECT', projectId, organizationId }
  const environment = await addEnvironment(sql, project)
  return { project, environment, service: await addService(sql, environment) }
}

export async function addEnvironment(sql: Database, project: ProjectScope): Promise<EnvironmentScope> {
  const environmentId = newId()
  await sql`
    insert into environment (id, project_id, cluster_id, created_at, updated_at, name, mode)
    select ${environmentId}, ${project.projectId}, id, now(), now(), ${`environment ${environmentId}`}, 'STAGING'
    from cluster where organization_id = ${project.organizationId}`
  await sql`
    insert into deployment_stage (id, environment_id, created_at, updated_at, name, deployment_order)
    values (${newId()}, ${environmentId}, now(), now(), 'stage', 1)`
  return { ...project, scope: 'ENVIRONMENT', environmentId }
}

export async function addService(
  sql: Database,
  environment: EnvironmentScope,
  kind = 'application',
): Promise<ServiceScope> {
  const serviceId = newRandomId()
  const serviceName = `service ${serviceId}`
  await sql`
    insert into service (id, environment_id, stage_id, created_at, updated_at, kind, name, settings, deployed_commit)
    select ${serviceId}, ${environment.environmentId}, id, now(), now(), ${kind}, ${serviceName},
      ${sql.json({ git_repository: { branch: 'main' } })}, ${sql.json({ id: 'c0ffee' })}
    from deployment_stage where environment_id = ${environment.environmentId}`
  return { ...environment, scope: 'SERVICE', serviceId, serviceName, kind }
}

export async function configVersionOf(sql: Database, { serviceId }: ServiceScope): Promise<number> {
  const [row] = await sql<{ config_version: number }[]>`select config_version from service where id = ${serviceId}`
  return row?.config_version ?? 0
}

/** An alias or override, as no use case makes it yet. */
export async function addStanding(
  sql: Database,
  scope: EnvironmentScope | ServiceScope,
  row: {
    readonly key: string
    readonly type: 'ALIAS' | 'OVERRIDE'
    readonly value?: string
    readonly isSecret?: boolean
    readonly base?: string
    readonly builtIn?: string
  },
): Promise<string> {
  const id = newId()
  await sql`
    insert into variable (id, environment_id, service_id, created_at, updated_at, key, variable_type, is_secret,
    value, base_id, base_built_in_id)
    values (${id}, ${scope.scope === 'ENVIRONMENT' ? scope.environmentId : null},
    ${scope.scope === 'SERVICE' ? scope.serviceId : null},
      now(), now(), ${row.key}, ${row.type}, ${row.isSecret ?? false}, ${row.value ?? null}, ${row.base ?? null},
      ${row.builtIn ?? null})`
  return id
}
