import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { testDatabase } from '../../server/database/testing.ts'
import { attempt, newRelease } from '../../server/engines/engine.cases.ts'
import type { Observation, Release } from '../../server/engines/index.ts'
import { type KubeObject, kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn } from '../../server/engines/kubernetes/labels.ts'
import { labelsOf, releaseObjects } from '../../server/engines/kubernetes/manifests.ts'
import { namespaceOf, volumeName } from '../../server/engines/kubernetes/names.ts'
import { type KubernetesBench, openKubernetesBench } from '../../server/engines/kubernetes/test-bench.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { testRelease } from '../../server/engines/kubernetes/test-release.ts'
import { createStrayEraser } from '../../server/environments/index.ts'
import { addGround } from '../../server/environments/testing.ts'
import { newId } from '../../server/lib/id.ts'
import { silentLogger as log } from '../../server/lib/log.ts'
import { until } from '../support/until.ts'
import { podOf } from './support/test-pod.ts'

// Other users of the same cluster: other organizations that have connected it, and people with a
// namespace of their own on it.

const image = usePublishedImage()
const limit = (): AbortSignal => AbortSignal.timeout(120_000)
const web = "require('http').createServer((q,s)=>s.end(process.env.WHO??'evil')).listen(8080)"
const withVolume = (bench: KubernetesBench, volume: string): Release =>
  newRelease({
    ...bench.workload('web'),
    entrypoint: ['node', '-e'],
    arguments: [`require('fs').writeFileSync('/data/secret','canary');console.log('canary-line');${web}`],
    variables: { WHO: 'owner' },
    storage: [{ id: volume, mountPoint: '/data', sizeGiB: 1 }],
  })

describe('a second record of a cluster that knows the ids of the first', () => {
  let owner: KubernetesBench
  let other: KubernetesBench
  const volume = newId()
  let release: Release
  before(async () => {
    owner = await openKubernetesBench({ image: image.reference() })
    other = await openKubernetesBench({ image: image.reference() })
    release = withVolume(owner, volume)
    await owner.engine.start(release, attempt())
  })
  after(async () => {
    await owner?.close()
    await other?.close()
  })

  test('reads neither lines nor figures nor files, and opens neither shell nor port', async () => {
    const { engine } = other
    const { service } = release
    const seen = await owner.engine.observe(service, limit())
    const [replica] = seen.state === 'absent' ? [] : seen.replicas
    const lines = async (of: KubernetesBench) => {
      const found: string[] = []
      for await (const { text } of of.engine.logs(service, { follow: false }, limit())) found.push(text)
      return found
    }
    assert.deepEqual(await lines(owner), ['canary-line'])
    assert.deepEqual(await lines(other), [])
    assert.deepEqual(await engine.usage(service, limit()), [])
    const refused = { reason: 'refused' }
    for (const named of [undefined, replica?.name ?? '']) {
      const wish = { command: ['cat', '/data/secret'], columns: 0, rows: 0, ...(named && { replica: named }) }
      await assert.rejects(engine.shell(service, wish, limit()), refused)
      await assert.rejects(engine.connect(service, 8080, named, limit()), refused)
    }
    await assert.rejects(engine.exec(service, ['true'], limit()), refused)
    assert.equal(await engine.hasVolume(volume, limit()), false)
    await assert.rejects(
      engine.readVolume(volume, async (archive) => void (await buffer(archive)), attempt()),
      refused,
    )
  })

  test('ends, changes and copies nothing', async () => {
    const { engine } = other
    const { service, environment } = release
    const before = await owner.engine.observe(service, limit())
    const names = before.state === 'absent' ? [] : before.replicas.map(({ name }) => name)
    await engine.endReplicas(service, names, attempt())
    await engine.retire(service, undefined, attempt())
    await engine.erase(service, attempt())
    await engine.eraseEnvironment(environment, attempt())
    await engine.removeVolume(volume, attempt())
    await engine.endTask(newId(), attempt())
    assert.deepEqual(await engine.eraseAll(attempt()), [])
    const copies = [{ from: volume, to: newId(), owner: { service: newId(), environment: newId() }, sizeGiB: 1 }]
    assert.equal(await engine.copyVolumes(copies, { mostStandingSeconds: 30 }, attempt()), 0)
    const mine: Release = { ...newRelease(other.workload('web')), environment, service }
    await assert.rejects(engine.start(mine, attempt()), /belongs to somebody else/)
    await assert.rejects(engine.prepareEnvironment(environment, attempt()), /belongs to somebody else/)
    assert.deepEqual(await owner.engine.observe(service, limit()), before)
    assert.equal(await owner.engine.hasVolume(volume, limit()), true)
  })
})

describe('a user of the cluster with a namespace of their own', () => {
  let bench: KubernetesBench
  let release: Release
  const volume = newId()
  const evil = `test-evil-${newId().slice(-8)}`
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
    release = withVolume(bench, volume)
    await bench.engine.start(release, attempt())
    await bench.kube.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: evil } }, limit())
  })
  after(async () => {
    await bench?.kube.remove(kinds.namespace, { name: evil }, limit())
    await bench?.close()
  })

  /** Returns the labels of the release's objects, as anybody who may list pods can read them. */
  const labels = () => labelsOf(release, bench.instance)
  const addresses = (seen: Observation | undefined): string[] =>
    seen === undefined || seen.state === 'absent'
      ? []
      : seen.replicas.flatMap(({ endpoints }) => endpoints.map(({ address }) => address))

  test('gets neither requests nor shells of a service whose labels its pod has', async () => {
    const { engine, kube } = bench
    const { service } = release
    const watching = bench.another()
    const before = addresses(await engine.observe(service, limit()))
    assert.equal(before.length, 1)
    assert.deepEqual(addresses((await watching.observeAll(limit())).get(service)), before)
    const pod = podOf({ namespace: evil, name: 'evil', labels: labels() }, image.reference(), web)
    const annotated = { ...pod, metadata: { ...pod.metadata, annotations: { 'quayside.io/ports': '8080' } } }
    await kube.create(annotated, limit())
    await until('the pod is ready', async () => {
      const found = await kube.get(kinds.pod, { namespace: evil, name: 'evil' }, limit())
      return found?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    })
    assert.deepEqual(addresses(await engine.observe(service, limit())), before)
    assert.deepEqual(addresses((await watching.observeAll(limit())).get(service)), before)
    assert.deepEqual(addresses((await bench.another().observeAll(limit())).get(service)), before)
    const print = ['node', '-e', 'process.stdout.write(process.env.WHO??"evil")']
    assert.equal((await engine.exec(service, print, limit())).output, 'owner')
    await assert.rejects(engine.connect(service, 8080, 'evil', limit()), { reason: 'refused' })
  })

  test('cannot have its volume copied or read in place of another one', async () => {
    const { engine, kube } = bench
    const claim: KubeObject & { readonly spec: object } = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { namespace: evil, name: volumeName(newId()), labels: { ...labels(), 'quayside.io/volume': newId() } },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
    }
    const made = await kube.create(claim, limit())
    const named = made.metadata.labels?.['quayside.io/volume'] ?? ''
    assert.equal(await engine.hasVolume(named, limit()), false)
    await engine.removeVolume(named, attempt())
    const left = await kube.get(kinds.volumeClaim, claim.metadata, limit())
    assert.equal(left?.metadata.deletionTimestamp, undefined)
  })

  test('loses none of their objects when the service ends, and keeps it from nothing', async () => {
    const { engine, kube } = bench
    await engine.erase(release.service, attempt())
    const left = await kube.get(kinds.pod, { namespace: evil, name: 'evil' }, limit())
    assert.equal(left?.metadata.deletionTimestamp, undefined)
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
  })
})

describe('an environment that is gone', () => {
  let bench: KubernetesBench
  before(async () => {
    bench = await openKubernetesBench({ image: image.reference() })
  })
  after(() => bench?.close())

  test('leaves no namespace without contents, and those in use and of others stay', async (t) => {
    const { engine, kube } = bench
    const { sql: database } = await testDatabase(t)
    const ground = await addGround(database)
    await database`update cluster set engine = 'far' where id = ${ground.cluster_id}`
    const known = (await ground.addEnvironment('shop')).id
    // What a copy leaves whose server was killed, and which was deleted before the next start.
    const copied = newId()
    const used = newRelease(bench.workload('web'))
    for (const id of [known, copied]) await engine.prepareEnvironment(id, attempt())
    await engine.start(used, attempt())
    const foreign = namespaceOf(newId())
    const someone = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: foreign } }
    await kube.create(someone, limit())
    t.after(() => kube.remove(kinds.namespace, { name: foreign }, limit()))
    const eraser = createStrayEraser({ database, log }, { name: 'far', engine })
    for (let looks = 0; looks < 2; looks++) await eraser.reconcile(limit())
    const find = async (name: string) => kube.get(kinds.namespace, { name }, limit())
    await until('it is gone', async () => (await find(namespaceOf(copied))) === undefined)
    for (const name of [namespaceOf(known), namespaceOf(used.environment), foreign]) {
      assert.equal((await find(name))?.metadata.deletionTimestamp, undefined, name)
      assert.ok(await find(name), name)
    }
    assert.equal((await engine.observe(used.service, limit())).state, 'running')
  })
})

test('long names that are equal at first collide in no object, and two records have two labels', () => {
  const long = 'a'.repeat(300)
  const [one, two] = [newId(), newId()].map((service) => {
    const release = { ...testRelease({ aliases: [`app-${service.slice(-8)}`] }), service, displayName: long }
    return releaseObjects(release, { instance: 'here' }).map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  })
  for (const name of one ?? []) {
    assert.ok(!two?.includes(name), name)
    assert.ok(name.split(' ')[1]?.length ?? 64 <= 63, name)
  }
  const installation = 'i'.repeat(12)
  assert.notEqual(instanceOn(installation, newId()), instanceOn(installation, newId()))
})
