import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { jobBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { createFakeBuilder, createRegistryBuilder } from '../builders/index.ts'
import { EngineError, FakeEngine, type RegistryTarget } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { setReleaseImage } from '../releases/index.ts'

/** An engine on another machine: it pulls images from a registry and is sent none directly. */
class FarEngine extends FakeEngine {
  override readonly capabilities = {
    description: 'an engine on another machine',
    shapes: new Set(['long-running', 'task'] as const),
    settings: new Set<never>(),
    images: 'registry' as const,
    publishesPorts: false,
    scalesByLoad: false,
    events: 'cool-down' as const,
    measuresDisk: true,
  }
  imagesOf(service: string): string[] {
    return this.replicas.of(service).map(({ workload }) => workload.image)
  }
  /** The images of runs, in the order of their preparation. */
  readonly imagesOfRuns: string[] = []
  override async prepareTask(...[release, ...more]: Parameters<FakeEngine['prepareTask']>): Promise<void> {
    this.imagesOfRuns.push(release.workload.image)
    return super.prepareTask(release, ...more)
  }
  override async pinImage(): Promise<never> {
    throw new Error('this engine must not be asked for an image')
  }
  override async fetchImage(): Promise<never> {
    throw new Error('this engine must not be asked for an image')
  }
}

const [far, here] = [new FarEngine({ clock }), new FakeEngine({ clock })]
const pushed: { readonly image: string; readonly target: RegistryTarget }[] = []
let failure: Error | undefined
const digest = `sha256:${'a'.repeat(64)}`
const passwordFile = join(await mkdtemp(join(tmpdir(), 'quayside-registry-')), 'password')
await writeFile(passwordFile, 'SECRET\n')
after(() => rm(dirname(passwordFile), { recursive: true }))
const builder = createRegistryBuilder({
  builder: createFakeBuilder(),
  images: { name: 'local', engine: here },
  push: async (image, target) => {
    if (failure) throw failure
    pushed.push({ image, target })
    return { reference: `${target.repository}@${digest}`, digest }
  },
  pushProblem: async (target) => `no push to ${target.repository}`,
  registry: { repository: 'registry.example:5000/images', username: 'robot', passwordFile },
})
const platform = await createPlatform(
  { after },
  { works: true, engines: [{ name: 'far', engine: far }], builders: [{ name: 'far', builder }] },
)
const { a, call, database } = platform
await database`update cluster set engine = 'far' where id = ${a.clusterId}`
const [registry] = await database`select id from container_registry where organization_id = ${a.organizationId} limit 1`

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, answer.text)
  return Object(answer.body)
}
const ended = (wanted: string) =>
  until(`the deployment ends with ${wanted}`, async () => {
    const [row] = await database`select status from deployment_request order by seq desc limit 1`
    if (!['SUCCESS', 'ERROR'].includes(row?.['status'])) return false
    assert.equal(row?.['status'], wanted)
    return true
  })

const { environmentId } = a.objects
const bare = { ports: [], healthchecks: {} }

test('a built image is published and runs by its digest when the engine is on another machine', async () => {
  await platform.addRepository(a)
  const { applicationId: id } = a.objects
  await send('POST', `/application/${id}/deploy`, {})
  await ended('SUCCESS')
  assert.deepEqual(far.imagesOf(id), [`registry.example:5000/images/${id}@${digest}`])
  assert.match(pushed.at(-1)?.image ?? '', new RegExp(`^quayside/${id}:`))
  assert.equal(pushed.at(-1)?.target.login?.username, 'robot')
  assert.equal(pushed.at(-1)?.target.login?.password.reveal(), 'SECRET')
  const before = pushed.length
  await send('POST', `/application/${id}/restart-service`)
  await ended('SUCCESS')
  assert.deepEqual(far.imagesOf(id), [`registry.example:5000/images/${id}@${digest}`])
  assert.equal(pushed.length, before, 'a restart publishes nothing')
})

test('a deployment that continues after a crash knows where its image was published', async () => {
  const [release] = await database`select id, image from release where image ? 'published' limit 1`
  assert.ok(release)
  const { published, ...built } = release['image']
  // The result of the recorded step of the build is stored again.
  await setReleaseImage(database, release['id'], built)
  const [now] = await database`select image from release where id = ${release['id']}`
  assert.deepEqual(now?.['image'], { ...built, published })
  await setReleaseImage(database, release['id'], { ...built, reference: 'another' })
  const [other] = await database`select image from release where id = ${release['id']}`
  assert.equal(other?.['image'].published, undefined)
  await setReleaseImage(database, release['id'], release['image'])
})

test('an image of a registry is fetched to the builder, and published from there', async () => {
  const container = { ...bare, name: 'fetched', registry_id: registry?.['id'], image_name: 'team/web', tag: '1' }
  const { id } = await send('POST', `/environment/${environmentId}/container`, container)
  await send('POST', `/container/${id}/deploy`, {})
  await ended('SUCCESS')
  assert.equal(here.images.fetched.length, 1)
  assert.equal(pushed.at(-1)?.image, here.images.fetched[0])
  assert.deepEqual(far.imagesOf(id), [`registry.example:5000/images/${id}@${digest}`])
  const seen = await far.observe(id, new AbortController().signal)
  for (const { name } of seen.state === 'absent' ? [] : seen.replicas) far.drop(name)
  await until('it is brought back', () => far.imagesOf(id).length === 1)
})

test('a job runs the image that was published', async () => {
  const container = { registry_id: registry?.['id'], image_name: 'team/job', tag: '1' }
  const body = { ...jobBody('far'), source: { image: container }, schedule: { on_start: { arguments: ['start'] } } }
  const { id } = await send('POST', `/environment/${environmentId}/job`, body)
  await send('POST', `/job/${id}/deploy`, {})
  await ended('SUCCESS')
  assert.deepEqual(far.imagesOfRuns, [`registry.example:5000/images/${id}@${digest}`])
})

test('a deployment fails with the reason of the registry when the registry rejects the image', async () => {
  failure = new EngineError('refused', 'The image cannot be published. Check the registry.')
  const { applicationId: id } = a.objects
  await platform.addRepository(a, 'another')
  await send('POST', `/application/${id}/deploy`, {})
  await ended('ERROR')
  const [target] = await database`
    select t.reason from deployment_target t join deployment_request r on r.id = t.request_id
    where t.service_id = ${id} order by r.seq desc limit 1`
  assert.equal(target?.['reason'], failure.message)
  assert.equal(far.imagesOf(id).length, 1, 'the previous version stays')
  failure = undefined
})

test('the check of a cluster tries a repository beside those of services', async () => {
  assert.equal(
    await builder.publishProblem?.(new AbortController().signal),
    'no push to registry.example:5000/images/check',
  )
})

test('the server rejects an engine on another machine at start when its builder publishes nothing', async () => {
  const wrong = { engines: [{ name: 'local', engine: far }], routers: [{ name: 'local', router: platform.router }] }
  const drivers = { ...wrong, builders: [{ name: 'local', builder: platform.builder }] }
  await assert.rejects(platform.another({ drivers }), /takes images from another place than its builder puts them/)
})
