import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insertBuiltInCluster } from '../server/clusters/index.ts'
import type { Composition } from '../server/composition/index.ts'
import type { Database } from '../server/database/index.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { newId } from '../server/lib/id.ts'
import { findEnvironment, insertOrganization } from '../server/organizations/index.ts'
import { composeServer } from './whole-server.ts'

/**
 * The whole server without its workflows: it accepts requests and leaves them queued. Arguments:
 * port, URL of an empty database, directory, number of environments to create, each with one
 * application. Writes `accepting.json` before it listens.
 */
const [port = '', url = '', directory = '', count = ''] = process.argv.slice(2)
const { database, publicUrl, ...composition } = await composeServer({ port, url, directory })
const seeded = await seed(database, composition, Number(count))
await writeFile(join(directory, 'accepting.json'), JSON.stringify(seeded))
await composition.app.listen({ host: '127.0.0.1', port: Number(port) })

async function seed(sql: Database, { rooms }: Composition, environments: number) {
  const organizationId = newId()
  const now = clock.now()
  await insertOrganization(sql, { id: organizationId, name: 'Bench', now })
  await insertBuiltInCluster(sql, { id: newId(), organization_id: organizationId, name: 'local', now })
  const maker = { name: 'bench', permissions: ['ADMIN' as const] }
  const { token } = await rooms.apiTokens.create(organizationId, maker, { name: 'bench', scope: 'ADMIN' })
  const project = await rooms.projects.create(organizationId, { name: 'bench' })
  const { id } = await rooms.environments.create(project, organizationId, { name: 'first' })
  const environment = await findEnvironment(sql, id)
  if (!environment) throw new Error('the new environment is missing')
  const service = await rooms.services.create('application', environment, {
    name: 'bench',
    git_repository: { url: `${publicUrl}/git/bench.git` },
    build_mode: 'DOCKER',
    cpu: 500,
    memory: 512,
    gpu: 0,
    min_running_instances: 1,
    max_running_instances: 1,
    auto_preview: false,
    ports: [],
    storage: [],
    arguments: [],
    healthchecks: {},
  })
  await copyEnvironment(sql, id, environments)
  const services = await sql<{ id: string }[]>`select id from service where id <> ${service.id}`
  return { token, applications: services.map((row) => row.id) }
}

/**
 * Copies an environment with its stages and services, without hosts and variables, this many times.
 */
async function copyEnvironment(sql: Database, id: string, copies: number): Promise<void> {
  await sql`
    with environments as (
      insert into environment (id, project_id, cluster_id, created_at, updated_at, name, mode)
      select gen_random_uuid(), project_id, cluster_id, now(), now(), 'copy ' || n, mode
      from environment, generate_series(1, ${copies}) as n where id = ${id} returning id
    ), stages as (
      insert into deployment_stage (id, environment_id, created_at, updated_at, name, deployment_order)
      select gen_random_uuid(), e.id, now(), now(), s.name, s.deployment_order
      from environments e, deployment_stage s where s.environment_id = ${id} returning id, environment_id, name
    )
    insert into service (id, environment_id, stage_id, created_at, updated_at, kind, name, settings)
    select gen_random_uuid(), g.environment_id, g.id, now(), now(), s.kind, s.name, s.settings
    from stages g, service s join deployment_stage f on f.id = s.stage_id
    where s.environment_id = ${id} and f.name = g.name`
  await sql`vacuum analyze`
}
