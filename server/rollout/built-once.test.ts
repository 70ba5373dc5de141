import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { listBuiltElsewhere } from './built-elsewhere-store.ts'

/**
 * An image is built once and reused by every service of the organization that would build the same.
 */
const platform = await createPlatform({ after }, { works: true })
const { a, b, builder, call, database } = platform

const send = async (method: string, at: string, body?: object, tenant: typeof a = a) => {
  const answer = await call(tenant.tokens.ADMIN, method, at, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${at}: ${answer.text}`)
  return Object(answer.body)
}
const git_repository = { url: 'http://localhost:3000/git/hello.git', branch: 'main' }
const environmentOf = async (name: string, tenant = a): Promise<string> =>
  (await send('POST', `/project/${tenant.objects.projectId}/environment`, { name }, tenant)).id
const addApplication = async (environment: string, name: string, more: object = {}, tenant = a): Promise<string> =>
  (await send('POST', `/environment/${environment}/application`, { name, git_repository, ...more }, tenant)).id

/** Deploys and returns which services were built and which steps the API reports. */
async function deploy(environment: string, tenant = a): Promise<{ built: string[]; steps: string[]; log: string }> {
  const before = builder.recipes.length
  await send('POST', `/environment/${environment}/deploy`, {}, tenant)
  const ended = await until('the deployment has ended', async () => {
    const [row] = await database`
      select id, status, finished_at from deployment_request where environment_id = ${environment} order by seq desc
      limit 1`
    return row?.['finished_at'] ? row : undefined
  })
  const { text: log } = await call(tenant.tokens.READ, 'GET', `/environment/${environment}/logs`)
  assert.equal(ended['status'], 'SUCCESS', log)
  const steps = await database<{ name: string }[]>`
    select split_part(name, '/', 2) as name from workflow_step where workflow_id = ${ended['id']}`
  return {
    built: builder.recipes.slice(before).map(({ service }) => service),
    steps: steps.map(({ name }) => name),
    log,
  }
}
async function clone(environment: string, name: string): Promise<{ id: string; application: string }> {
  const { id } = await send('POST', `/environment/${environment}/clone`, { name })
  await until('the copy is whole', async () => {
    const [row] = await database`select from environment where id = ${id} and copying is null`
    return row !== undefined
  })
  return { id, application: (await send('GET', `/environment/${id}/application`)).results[0].id }
}
async function imageOf(application: string): Promise<{ reference: string; digest: string }> {
  const [row] = await database`
    select r.image from service s join release r on r.id = s.release_id where s.id = ${application}`
  return Object(row?.['image'])
}
const is = (expected: readonly string[], found: readonly string[], log: string) =>
  assert.deepEqual([...found].sort(), [...expected].sort(), log)

test('a copied environment reuses the images of its original, reports it before and after, and keeps them when the original is deleted', async () => {
  await platform.addRepository(a, 'whole')
  const original = await environmentOf('original')
  const first = await addApplication(original, 'web')
  is([first], (await deploy(original)).built, 'the original')
  const copy = await clone(original, 'the copy')
  const plan = await send('POST', `/environment/${copy.id}/deploy?dry_run=true`)
  const reasons = plan.services[0].reasons.join(' ')
  assert.match(reasons, /those of application "web" of environment "original", its image is used and nothing is built/)

  const { built, steps, log } = await deploy(copy.id)
  is([], built, log)
  assert.ok(steps.includes('GIT_CLONE') && !steps.includes('BUILD') && !steps.includes('BUILD_QUEUEING'), `${steps}`)
  assert.match(
    log,
    /image that was built for application \\?"web\\?" of environment \\?"original\\?" at 20\S+Z is used/,
  )
  const [theirs, ours] = [await imageOf(first), await imageOf(copy.application)]
  assert.equal(ours.digest, theirs.digest)
  assert.notEqual(ours.reference, theirs.reference)

  await send('DELETE', `/environment/${original}`)
  await until('the original is gone', async () => !builder.references().includes(theirs.reference))
  assert.ok(builder.references().includes(ours.reference))
  await send('POST', `/application/${copy.application}/restart-service`)
  await until('it was restarted', async () => {
    const { state, deployment_request_id: request } = await send('GET', `/application/${copy.application}/status`)
    return request === null && state === 'RESTARTED'
  })
  assert.deepEqual(await imageOf(copy.application), ours)
  // A copy of the copy: a promoted image is promoted again.
  const further = await clone(copy.id, 'further')
  is([], (await deploy(further.id)).built, 'further')
  assert.equal((await imageOf(further.application)).digest, ours.digest)
})

test('services with the same build that are deployed together are built once, and a job reuses the image of an application', async () => {
  await platform.addRepository(a, 'together')
  const environment = await environmentOf('together')
  for (const name of ['web', 'worker', 'third']) await addApplication(environment, name)
  const { built, log } = await deploy(environment)
  assert.equal(built.length, 1, log)
  const jobs = await environmentOf('jobs')
  const source = { docker: { git_repository, dockerfile_path: 'Dockerfile' } }
  await send('POST', `/environment/${jobs}/job`, { name: 'task', source, schedule: { on_start: { arguments: [] } } })
  is([], (await deploy(jobs)).built, 'a job')
})

test('a service is built on its own when its argument, stage or Dockerfile differs or its steps mount a cache', async () => {
  await platform.addRepository(a, 'different\nARG COLOUR')
  const environment = await environmentOf('different')
  const web = await addApplication(environment, 'web')
  is([web], (await deploy(environment)).built, 'the first')
  const copy = await clone(environment, 'coloured')
  await send('POST', `/application/${copy.application}/environmentVariable`, { key: 'COLOUR', value: 'red' })
  is([copy.application], (await deploy(copy.id)).built, 'another argument')
  const staged = await environmentOf('staged')
  const stage = await addApplication(staged, 'web', { docker_target_build_stage: 'tests' })
  is([stage], (await deploy(staged)).built, 'another stage')
  await platform.addRepository(a, 'cached\nRUN --mount="type=cache,target=/x" ["true"]')
  const cached = [await environmentOf('cached'), await environmentOf('cached too')]
  for (const id of cached) is([await addApplication(id, 'web')], (await deploy(id)).built, 'a cache')
})

test('an image is built again when it is gone, and never reused from another organization', async () => {
  const [commit, other] = [await platform.addRepository(a, 'shared'), await platform.addRepository(b, 'shared')]
  const own = await environmentOf('mine')
  const mine = await addApplication(own, 'web')
  await deploy(own)
  await builder.prune(mine, [], AbortSignal.timeout(5000))
  const again = await environmentOf('again')
  is([await addApplication(again, 'web')], (await deploy(again)).built, 'it is gone')
  const [row] = await database`select image ->> 'identity' as identity from release where service_id = ${mine}`
  const identity: string = Object(row).identity
  assert.match(identity, /^[0-9a-f]{64}$/)
  const theirs = await environmentOf('theirs', b)
  const foreign = await addApplication(theirs, 'web', {}, b)
  is([foreign], (await deploy(theirs, b)).built, commit === other ? 'the same commit' : 'another commit')
  const elsewhere = (organizationId: string) =>
    listBuiltElsewhere(database, { organizationId, serviceId: foreign, identity })
  assert.equal((await elsewhere(a.organizationId)).length, 2)
  await database`update release set image = image || ${database.json({ identity })} where service_id = ${foreign}`
  const others = await listBuiltElsewhere(database, { organizationId: b.organizationId, serviceId: mine, identity })
  assert.deepEqual([others.length, (await elsewhere(b.organizationId)).length], [1, 0])
})
