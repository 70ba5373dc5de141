import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import type postgres from 'postgres'
import { createFakeBuilder } from '../server/builders/index.ts'
import { insertBuiltInCluster, noConnection } from '../server/clusters/index.ts'
import type { Composition } from '../server/composition/index.ts'
import { type Database, inTransaction } from '../server/database/index.ts'
import { FakeEngine, localEngine } from '../server/engines/index.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { newId } from '../server/lib/id.ts'
import { insertOrganization } from '../server/organizations/index.ts'
import { addDefaultRegistries } from '../server/registries/index.ts'
import { createFakeRouter } from '../server/routers/index.ts'
import { oneConnection } from './one-connection.ts'
import { until } from './until.ts'
import { composeServer } from './whole-server.ts'

/**
 * Writes the records of a large installation: deploys one container on a fake engine and copies its
 * rows. Arguments: port, URL of an empty database, directory, number of clusters, services of each
 * of them. Writes `token`, and listens once everything is written.
 */
const [port = '', url = '', directory = '', clusters = '', each = ''] = process.argv.slice(2)
/** Services of one environment. */
const inEnvironment = 20
/** Of five clusters, one has no ingress controller and shares the router of this machine. */
const withoutDomain = 5

const server = await composeServer({ port, url, directory }, {}, () => ({
  engines: [{ name: localEngine, engine: new FakeEngine({ clock }) }],
  builders: [{ name: localEngine, builder: createFakeBuilder() }],
  routers: [{ name: localEngine, router: createFakeRouter() }],
  connect: noConnection,
}))
server.start()
const template = await deployOne(server.database, server)
await server.stop()
await server.database.end()
await copyAll(template)
await writeFile(join(directory, 'token'), template.token)
createServer().listen(Number(port), '127.0.0.1')

interface Template {
  readonly token: string
  readonly clusterId: string
  readonly environmentId: string
  readonly serviceId: string
}

async function deployOne(sql: Database, { rooms, app }: Composition): Promise<Template> {
  const [organizationId, clusterId, now] = [newId(), newId(), clock.now()]
  await inTransaction(sql, async (db) => {
    await insertOrganization(db, { id: organizationId, name: 'Bench', now })
    await insertBuiltInCluster(db, { id: clusterId, organization_id: organizationId, name: 'local', now })
    await addDefaultRegistries(db, organizationId, now)
  })
  const maker = { name: 'bench', permissions: ['ADMIN' as const] }
  const { token } = await rooms.apiTokens.create(organizationId, maker, { name: 'bench', scope: 'ADMIN' })
  const ask = async (method: 'GET' | 'POST', path: string, payload?: object) => {
    const headers = { host: 'localhost', authorization: `Bearer ${token}` }
    const answer = await app.inject({ method, url: path, headers, ...(payload && { payload }) })
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${answer.payload}`)
    return JSON.parse(answer.payload)
  }
  const registries = await ask('GET', `/organization/${organizationId}/containerRegistry`)
  const project = await ask('POST', `/organization/${organizationId}/project`, { name: 'bench' })
  const environment = await ask('POST', `/project/${project.id}/environment`, { name: 'template' })
  const service = await ask('POST', `/environment/${environment.id}/container`, {
    name: 'template',
    registry_id: registries.results[0].id,
    image_name: 'library/shop',
    tag: '1',
    cpu: 100,
    memory: 64,
    ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
  })
  await ask('POST', `/container/${service.id}/deploy`, { image_tag: '1' })
  await until('the template is deployed', async () => {
    const [row] = await sql`select from deployment_request where status = 'SUCCESS'`
    return row !== undefined
  })
  return { token, clusterId, environmentId: environment.id, serviceId: service.id }
}

/** Without triggers, which would write a state change for each row. */
async function copyAll({ clusterId, environmentId, serviceId }: Template): Promise<void> {
  const sql = oneConnection(url)
  await sql`set session_replication_role = replica`
  await sql`create temp table clusters as
    select gen_random_uuid() as id, n from generate_series(1, ${Number(clusters)}::int) n`
  await sql`create temp table environments as
    select gen_random_uuid() as id, c.id as cluster_id, c.n * 1000 + m as n
    from clusters c, generate_series(1, ${Math.ceil(Number(each) / inEnvironment)}::int) m`
  await sql`create temp table services as
    select gen_random_uuid() as id, gen_random_uuid() as release_id, e.id as environment_id, e.n * 100 + m as n
    from environments e, generate_series(1, ${Math.min(inEnvironment, Number(each))}::int) m`
  await sql`insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes,
      engine, credentials_id, sealed_kubeconfig, dns_provider, deployed_config_version)
    select c.id, organization_id, created_at, updated_at, 'cluster ' || n, region, cloud_provider, 'SELF_MANAGED',
      'kubernetes-' || c.id, credentials_id, 'v1.b25l',
      case when n % ${withoutDomain} > 0 then jsonb_build_object('provider', 'CLOUDFLARE', 'domain',
        'c' || n || '.example.com') end, 1
    from cluster, clusters c where cluster.id = ${clusterId}`
  await copyRows(sql, 'environment', sql`environments c`, sql`t.id = ${environmentId}`, {
    id: sql`c.id`,
    cluster_id: sql`c.cluster_id`,
    name: sql`'environment ' || c.n`,
    request_number: sql`0`,
  })
  await copyRows(sql, 'deployment_stage', sql`environments c`, sql`t.environment_id = ${environmentId}`, {
    id: sql`md5(t.id::text || c.id)::uuid`,
    environment_id: sql`c.id`,
  })
  await copyRows(sql, 'service', sql`services c`, sql`t.id = ${serviceId}`, {
    id: sql`c.id`,
    environment_id: sql`c.environment_id`,
    stage_id: sql`md5(t.stage_id::text || c.environment_id)::uuid`,
    release_id: sql`c.release_id`,
    name: sql`'service ' || c.n`,
  })
  await copyRows(sql, 'release', sql`services c`, sql`t.service_id = ${serviceId}`, {
    id: sql`c.release_id`,
    service_id: sql`c.id`,
  })
  await copyRows(sql, 'route', sql`services c`, sql`t.service_id = ${serviceId}`, {
    host: sql`'s' || c.n || '.example.com'`,
    service_id: sql`c.id`,
    release_id: sql`c.release_id`,
  })
  await sql`analyze`
  await sql.end()
}

/**
 * Copies the chosen rows of a table for each row of `copies`, with other values in some columns.
 */
async function copyRows(
  sql: postgres.Sql,
  table: string,
  copies: postgres.Fragment,
  chosen: postgres.Fragment,
  values: Readonly<Record<string, postgres.Fragment>>,
): Promise<void> {
  const columns = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_schema = 'public' and table_name = ${table} and is_generated = 'NEVER' and is_identity = 'NO'`
  const names = columns.map(({ name }) => name)
  const list = (parts: readonly postgres.Fragment[]) => parts.reduce((all, one) => sql`${all}, ${one}`)
  await sql`insert into ${sql(table)} (${list(names.map((name) => sql`${sql(name)}`))})
    select ${list(names.map((name) => values[name] ?? sql`t.${sql(name)}`))}
    from ${sql(table)} t, ${copies} where ${chosen}`
}
