import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds, type Pod } from '../../server/engines/kubernetes/client/index.ts'
import { annotation, label } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// A cluster whose objects another version of the platform wrote. The tests build on each other.

let server: ServerProcess
let cluster: AddedCluster
let application: TestApplication
let namespace: string
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const selection = () => ({ labels: { [label.service]: application.id } })
const pods = async (): Promise<readonly Pod[]> => (await kube.list(kinds.pod, selection(), limit())).items

before(async () => {
  server = await startServer({ env: clusterSettings('upgrade') })
})
after(async () => {
  await server?.close()
  kube.close()
})

const deployment = async () => {
  const [found] = (await kube.list(kinds.deployment, selection(), limit())).items
  assert.ok(found)
  return found
}
const uids = async (): Promise<(string | undefined)[]> => (await pods()).map(({ metadata }) => metadata.uid).toSorted()

/** An earlier version marks nothing, so that its objects do not look changed by hand. */
const unmarked = { [annotation.applied]: null, [annotation.objects]: null }

/** Writes objects of the environment as another version could have written them. */
async function age(): Promise<void> {
  const old = { metadata: { annotations: { [annotation.name]: 'old', ...unmarked } } }
  await kube.patch(kinds.namespace, { name: namespace }, { metadata: { annotations: unmarked } }, limit())
  await kube.patch(kinds.deployment, (await deployment()).metadata, old, limit())
  const labels = { 'pod-security.kubernetes.io/warn': 'privileged' }
  await kube.patch(kinds.namespace, { name: namespace }, { metadata: { labels } }, limit())
  await kube.remove(kinds.networkPolicy, { namespace, name: 'quayside-isolation' }, limit())
}

/** Whether everything is as this version writes it. */
async function isNew(): Promise<boolean> {
  const [space, policy, { metadata }] = await Promise.all([
    kube.get(kinds.namespace, { name: namespace }, limit()),
    kube.get(kinds.networkPolicy, { namespace, name: 'quayside-isolation' }, limit()),
    deployment(),
  ])
  return (
    metadata.annotations?.[annotation.name] === 'web' &&
    space?.metadata.labels?.['pod-security.kubernetes.io/warn'] === 'restricted' &&
    policy !== undefined
  )
}

async function upgradeEnds(): Promise<string> {
  await until(
    'the upgrade ends',
    async () => {
      const { status } = await server.must<{ status: string }>('GET', `${cluster.path}/status`)
      return ['DEPLOYED', 'DEPLOYMENT_ERROR'].includes(status)
    },
    { limitMs: 240_000 },
  )
  const { results } = await server.must<{ results: { message: { safe_message: string } }[] }>(
    'GET',
    `${cluster.path}/logs`,
  )
  return results.map(({ message }) => message.safe_message).join('\n')
}

test('an application runs on the cluster with two replicas', async () => {
  cluster = await addDeployedCluster(server, 'far')
  const environmentId = await makeEnvironment(server, 'shop', cluster.id)
  namespace = `quayside-${environmentId}`
  const settings = { cpu: 100, min_running_instances: 2, max_running_instances: 2 }
  application = await makeApplication(server, { environmentId, name: 'web', settings })
  await application.run(web('first'))
  assert.equal((await pods()).length, 2)
})

test('an upgrade brings its objects to this version without losing a request, and says what it changed', async (t) => {
  await age()
  const before = await uids()
  const traffic = startTraffic(application.url, 50)
  t.after(() => traffic.stop())
  await traffic.sends(50)
  const asked = await server.must<{ status: string }>('POST', `/cluster/${cluster.id}/upgrade`)
  assert.equal(asked.status, 'DEPLOYMENT_QUEUED')
  const lines = await upgradeEnds()
  assert.ok(await isNew(), lines)
  assert.match(lines, /Environment "shop": Namespace \S+ was changed: metadata\.labels\.pod-security/)
  assert.match(lines, /Environment "shop": NetworkPolicy quayside-isolation was created/)
  assert.match(lines, /Environment "shop": Service "web": Deployment \S+ was changed: metadata\.annotations/)
  assert.deepEqual(await uids(), before, 'no replica is replaced')
  await traffic.sends(200)
  const { lost, sent } = await traffic.stop()
  t.diagnostic(`${sent} requests, ${lost.length} lost`)
  assert.deepEqual(lost, [])
})

test('an upgrade of what has this version changes nothing', async () => {
  await server.must('POST', `/cluster/${cluster.id}/upgrade`)
  const lines = await upgradeEnds()
  const last = lines.slice(lines.lastIndexOf('An upgrade of the cluster was requested'))
  assert.doesNotMatch(last, /was changed|was created/)
})

test('an upgrade that is killed continues where it was', async () => {
  await age()
  await server.kill9()
  await server.restart({ failpoint: 'renew.applied:kill', env: clusterSettings('upgrade') })
  await server.api('POST', `/cluster/${cluster.id}/upgrade`)
  await server.exited()
  assert.equal(await isNew(), false)
  await server.restart({ env: clusterSettings('upgrade') })
  const lines = await upgradeEnds()
  assert.match(lines.split('\n').at(-1) ?? '', /has version/)
  assert.ok(await isNew(), lines)
  await until('it answers', async () => (await application.answer()).status === 200)
})

test('a release whose replicas would be replaced keeps its form until its next deployment', async () => {
  const metadata = { annotations: unmarked }
  const template = { metadata: { annotations: { [annotation.name]: 'old' } } }
  await kube.patch(kinds.deployment, (await deployment()).metadata, { metadata, spec: { template } }, limit())
  await server.must('POST', `/cluster/${cluster.id}/upgrade`)
  assert.match(await upgradeEnds(), /Deployment \S+ keeps its form until the next deployment/)
  await kube.remove(kinds.namespace, { name: namespace }, limit())
})
