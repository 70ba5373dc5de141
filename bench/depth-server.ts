import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { insertBuiltInCluster } from '../server/clusters/index.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { newId } from '../server/lib/id.ts'
import { insertOrganization } from '../server/organizations/index.ts'
import { loadResolved } from '../server/variables/index.ts'
import { median } from './paired.ts'
import { composeServer } from './whole-server.ts'

/**
 * The whole server with many deployments of one application. Arguments: port, URL of an empty
 * database, directory, number of deployments. Writes `depth.json` before it listens: a token, the
 * paths of both histories, and the times for variables.
 */
const [port = '', url = '', directory = '', count = ''] = process.argv.slice(2)
const { database, app, rooms, vault } = await composeServer({ port, url, directory })

const organizationId = newId()
await insertOrganization(database, { id: organizationId, name: 'Bench', now: clock.now() })
const cluster = { id: newId(), organization_id: organizationId, name: 'local', now: clock.now() }
await insertBuiltInCluster(database, cluster)
const maker = { name: 'bench', permissions: ['ADMIN' as const] }
const { token } = await rooms.apiTokens.create(organizationId, maker, { name: 'bench', scope: 'ADMIN' })

const ask = async (path: string, payload: object) => {
  const headers = { host: 'localhost', authorization: `Bearer ${token}` }
  const answer = await app.inject({ method: 'POST', url: path, headers, payload })
  if (answer.statusCode >= 300) throw new Error(`POST ${path}: ${answer.statusCode} ${answer.payload}`)
  return JSON.parse(answer.payload)
}
const project = await ask(`/organization/${organizationId}/project`, { name: 'bench' })
const environment = await ask(`/project/${project.id}/environment`, { name: 'production' })
const git_repository = { url: 'https://github.com/acme/shop.git', branch: 'main' }
const service = await ask(`/environment/${environment.id}/application`, { name: 'shop', git_repository })

await addDeployments(Number(count))
const importMs = await importVariables(10_000)
const place = { organizationId, projectId: project.id, environmentId: environment.id, serviceId: service.id }
const resolveMs = await resolveVariables(500)
const paths = {
  environment: `/environment/${environment.id}/deploymentHistoryV2`,
  service: `/application/${service.id}/deploymentHistoryV2`,
}
await writeFile(join(directory, 'depth.json'), JSON.stringify({ token, paths, importMs, resolveMs }))
await app.listen({ host: '127.0.0.1', port: Number(port) })

/** Inserts ended deployments, a second apart, in batches that fit the statement timeout. */
async function addDeployments(deployments: number): Promise<void> {
  const part = 50_000
  for (let first = 1; first <= deployments; first += part) {
    await addPart(first, Math.min(deployments, first + part - 1), deployments)
  }
  await database`vacuum analyze`
}

async function addPart(first: number, last: number, deployments: number): Promise<void> {
  const deploy = { kind: 'deployment', action: 'DEPLOY', origin: 'API', caller: 'bench', state: 'DEPLOYED' }
  await database`create unlogged table made as
    select gen_random_uuid() as id, n, now() - make_interval(secs => ${deployments} - n) as at
    from generate_series(${first}::int, ${last}::int) n`
  await database`insert into workflow (id, kind, key, state, input, created_at)
    select id, ${deploy.kind}, ${environment.id}, 'done', '{}', at from made order by n`
  await database`insert into deployment_request (id, environment_id, execution_id, action, status, origin, triggered_by,
      caller, created_at, updated_at, started_at, finished_at)
    select id, ${environment.id}, ${environment.id} || '-' || n, ${deploy.action}, 'SUCCESS', ${deploy.origin},
      'bench', ${deploy.caller}, at, at, at, at from made order by n`
  await database`insert into deployment_target (request_id, service_id, kind, name, icon_uri, stage_name, stage_order,
      state, status, former_state, started_at, finished_at)
    select id, ${service.id}, 'application', 'shop', 'app://qovery-console/application', 'DEFAULT APPLICATION', 3,
      ${deploy.state}, 'SUCCESS', ${deploy.state}, at, at from made order by n`
  await database`drop table made`
}

async function importVariables(many: number): Promise<number> {
  const vars = Array.from({ length: many }, (_, n) => ({
    name: `KEY_${n}`,
    value: `value ${n}`,
    scope: 'APPLICATION',
    is_secret: n % 2 === 0,
  }))
  const began = clock.monotonic()
  await ask(`/application/${service.id}/environmentVariable/import`, { overwrite: true, vars })
  return clock.monotonic() - began
}

/**
 * Returns the median of a hundred runs after a hundred to warm up. Every fifth variable refers to
 * another.
 */
async function resolveVariables(many: number): Promise<number> {
  await database`delete from variable where service_id = ${service.id}`
  const vars = Array.from({ length: many }, (_, n) => ({
    name: `KEY_${n}`,
    value: n % 5 === 0 ? `before {{KEY_${n + 1}}} after` : `value ${n}`,
    scope: 'APPLICATION',
    is_secret: n % 10 === 1,
  }))
  await ask(`/application/${service.id}/environmentVariable/import`, { overwrite: true, vars })
  // A vacuum removes the variables imported before.
  await database`vacuum analyze`
  const times: number[] = []
  for (let n = 0; n < 200; n++) {
    const began = clock.monotonic()
    const resolved = await loadResolved(database, vault, place, { id: newId() })
    if ((resolved?.variables.size ?? 0) < many) throw new Error('not every variable was resolved')
    times.push(clock.monotonic() - began)
  }
  return median(times.slice(100))
}
