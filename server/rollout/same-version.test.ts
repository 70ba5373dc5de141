import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/** A redeployment keeps the deployed version and applies today's other settings. */
const platform = await createPlatform({ after }, { works: true })
const { a, builder, call, database, engine } = platform

const send = async (method: string, at: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}
const { id: environment } = await send('POST', `/project/${a.objects.projectId}/environment`, { name: 'again' })
const at = `/environment/${environment}`
const repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main' }
const [registry] = await database`select id from container_registry where organization_id = ${a.organizationId} limit 1`
const image = { registry_id: registry?.['id'], image_name: 'again/served', tag: '1' }
const bare = { ports: [], healthchecks: {} }
const { id: application } = await send('POST', `${at}/application`, {
  ...bare,
  name: 'built',
  git_repository: repository,
})
const { id: container } = await send('POST', `${at}/container`, { ...bare, ...image, name: 'fetched' })

/** Deploys successfully and returns the names of the steps. */
async function run(path: string, body?: object): Promise<string[]> {
  await send('POST', path, body)
  const ended = await until(`${path} has ended`, async () => {
    const [row] = await database`
      select id, status from deployment_request where environment_id = ${environment} order by seq desc limit 1`
    return row?.['status'] === 'SUCCESS' || row?.['status'] === 'ERROR' ? row : undefined
  })
  assert.equal(ended['status'], 'SUCCESS')
  const steps = await database<{ name: string }[]>`
    select split_part(name, '/', 2) as name from workflow_step where workflow_id = ${ended['id']}`
  return steps.map(({ name }) => name)
}
/** The running version of a service: commit, image content, memory. */
async function running(service: string) {
  const [row] = await database`
    select r.commit->>'id' as commit, r.commit->>'message' as message, r.image->>'digest' as digest,
      (r.settings->>'memory')::int as memory
    from service s join release r on r.id = s.release_id where s.id = ${service}`
  return Object(row)
}
const log = async () => (await call(a.tokens.READ, 'GET', `${at}/logs`)).text

const deployed = await platform.addRepository(a, 'one\nARG COLOUR')
await run(`${at}/deploy`)
const first = { application: await running(application), container: await running(container) }
await platform.addRepository(a, 'two\nARG COLOUR')
engine.images.push('docker.io/again/served:1')

test('a redeployment keeps commits and images and applies current settings without a build', async () => {
  assert.equal(first.application.commit, deployed)
  await send('PUT', `/application/${application}`, { memory: 256 })
  await send('PUT', `/container/${container}`, { ...image, memory: 256 })
  const [built, fetched] = [builder.recipes.length, engine.images.fetched.length]
  const steps = await run(`${at}/redeploy`)
  assert.deepEqual(await running(application), { ...first.application, memory: 256 })
  assert.deepEqual(await running(container), { ...first.container, memory: 256 })
  assert.deepEqual([builder.recipes.length, engine.images.fetched.length], [built, fetched])
  assert.ok(!steps.includes('GIT_CLONE') && !steps.includes('BUILD'), steps.join(' '))
  assert.match(await log(), /nothing that decides its build changed: nothing is built/)
  const { git_repository } = await send('GET', `/application/${application}`)
  assert.equal(git_repository.deployed_commit_id, deployed)
})

test('a redeployment succeeds when registry and repository are unreachable', async () => {
  engine.images.registryIsThere = false
  await send('PUT', `/container/${container}`, { ...image, memory: 300 })
  await run(`${at}/redeploy`)
  engine.images.registryIsThere = true
  assert.deepEqual(await running(container), { ...first.container, memory: 300 })
})

test('a redeployment builds the same commit again when a build input changed', async () => {
  await send('POST', `/application/${application}/environmentVariable`, { key: 'COLOUR', value: 'red' })
  const before = builder.recipes.length
  await run(`/application/${application}/redeploy`)
  assert.deepEqual(
    builder.recipes.slice(before).map(({ commit, variables }) => [commit, variables['COLOUR']]),
    [[deployed, 'red']],
  )
  assert.equal((await running(application)).commit, deployed)
})

test('a redeployment builds the same commit again when its image is gone', async () => {
  await builder.prune(application, [], AbortSignal.timeout(5000))
  const before = builder.recipes.length
  await run(`/application/${application}/redeploy`)
  assert.deepEqual(
    builder.recipes.slice(before).map(({ commit }) => commit),
    [deployed],
  )
})

test('a redeployment starts a stopped service in its version, and a new one by its settings', async () => {
  await run(`${at}/stop`)
  const { id: fresh } = await send('POST', `${at}/application`, {
    ...bare,
    name: 'fresh',
    git_repository: repository,
  })
  await run(`${at}/redeploy`)
  assert.equal((await running(application)).commit, deployed)
  assert.equal((await running(container)).digest, first.container.digest)
  assert.notEqual((await running(fresh)).commit, deployed)
})

test('a redeployment follows settings that name another image or branch', async () => {
  await send('PUT', `/container/${container}`, { ...image, tag: '2' })
  await run(`/container/${container}/redeploy`)
  assert.notEqual((await running(container)).digest, first.container.digest)
  assert.match(await log(), /settings name another source than the deployed version does/)
})

test('a deployment uses what branch and tag currently name', async () => {
  await send('PUT', `/container/${container}`, image)
  await run(`${at}/deploy`)
  assert.notEqual((await running(application)).commit, deployed)
  assert.notEqual((await running(container)).digest, first.container.digest)
})
