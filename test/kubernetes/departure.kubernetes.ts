import assert from 'node:assert/strict'
import { test } from 'node:test'
import { instanceOn, KubernetesEngine, kinds } from '../../server/engines/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { silent } from '../../server/lib/attempt.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { imageName } from './cluster/build.ts'
import { adminAccess, loopbackGuard, openKube } from './support/access.ts'

const attempt = () => ({ signal: AbortSignal.timeout(120_000), output: silent })
const installation = newId().slice(-8)

/** The engine of a record of the test cluster. */
const engineFor = (clusterId: string): KubernetesEngine =>
  new KubernetesEngine({
    access: adminAccess,
    instance: instanceOn(installation, clusterId),
    guard: loopbackGuard,
    clock,
    helperImage: imageName('tools'),
    registry: undefined,
  })

test('a departure removes the namespaces of one record and nothing of others', async (t) => {
  const kube = openKube()
  const [one, other] = [engineFor(newId()), engineFor(newId())]
  const [first, second, third] = [newId(), newId(), newId()]
  const foreign = `quayside-${newId()}`
  t.after(async () => {
    await other.eraseAll(attempt())
    await kube.remove(kinds.namespace, { name: foreign }, attempt().signal)
    one.close()
    other.close()
    kube.close()
  })
  await one.prepareEnvironment(first, attempt())
  await one.prepareEnvironment(second, attempt())
  await other.prepareEnvironment(third, attempt())
  const labels = { [label.manager]: 'quayside', [label.environment]: newId() }
  await kube.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: foreign, labels } }, attempt().signal)
  const exists = async (name: string) => (await kube.get(kinds.namespace, { name }, attempt().signal)) !== undefined
  const removed = await one.eraseAll(attempt())
  assert.deepEqual(removed.toSorted(), [`quayside-${first}`, `quayside-${second}`].toSorted())
  assert.equal(await exists(`quayside-${first}`), false)
  assert.equal(await exists(`quayside-${third}`), true)
  assert.equal(await exists(foreign), true)
  assert.deepEqual(await one.eraseAll(attempt()), [])
})

test('two records of one cluster do not see the environments of each other', async (t) => {
  const [one, other] = [engineFor(newId()), engineFor(newId())]
  const environment = newId()
  t.after(async () => {
    await one.eraseAll(attempt())
    one.close()
    other.close()
  })
  await one.prepareEnvironment(environment, attempt())
  await assert.rejects(other.prepareEnvironment(environment, attempt()), { message: /belongs to somebody else/ })
  await other.eraseEnvironment(environment, attempt())
  assert.deepEqual(await other.renewEnvironment(environment, async () => [], attempt()), [])
  assert.deepEqual(await one.renewEnvironment(environment, async () => [], attempt()), [])
})

test('an engine reports the version and the nodes of its cluster, and refused credentials', async (t) => {
  const engine = engineFor(newId())
  t.after(() => engine.close())
  const report = await engine.report(attempt().signal)
  assert.ok(report?.state === 'REACHABLE', JSON.stringify(report))
  assert.match(report.version, /^v1\.\d+/)
  assert.ok(report.nodes.length > 0 && report.cpuMilli >= 1000 && report.memoryMiB > 256)
  const stranger = new KubernetesEngine({
    access: async () => ({ ...(await adminAccess()), certificate: undefined, key: undefined }),
    instance: 'stranger',
    guard: loopbackGuard,
    clock,
    helperImage: imageName('tools'),
    registry: undefined,
  })
  t.after(() => stranger.close())
  const refused = await stranger.report(attempt().signal)
  assert.equal(refused?.state, 'REFUSED', JSON.stringify(refused))
})
