import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { findProcess } from './cluster/processes.ts'
import { startCluster } from './cluster/start.ts'
import { openKube } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// Programs of the cluster are killed while a deployment works on it. The deployment waits until
// they are back. The previous version answers meanwhile.

let server: ServerProcess
let application: TestApplication
const env = clusterSettings('killed')
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({ env })
  const cluster = await addDeployedCluster(server, 'mortal')
  const environmentId = await makeEnvironment(server, 'killed', cluster.id)
  application = await makeApplication(server, { environmentId, name: 'web', settings: { cpu: 100 } })
  await application.run(web('first'))
})
after(async () => {
  await startCluster()
  const name = application && `quayside-${application.environmentId}`
  await server?.close()
  await application?.git.remove()
  if (name) await kube.remove(kinds.namespace, { name }, limit())
  kube.close()
})

async function killed(name: string): Promise<void> {
  const pid = await findProcess(name)
  assert.ok(pid, `${name} runs`)
  process.kill(pid, 'SIGKILL')
  await until(`${name} has ended`, async () => (await findProcess(name)) === undefined)
}

/** Returns the images of the pods of the application that do not leave. */
async function imagesOfPods(): Promise<string[]> {
  const { items } = await kube.list(kinds.pod, { labels: { [label.service]: application.id } }, limit())
  return items
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ spec }) => String(spec?.containers[0]?.image))
}

for (const name of ['kubelet', 'kube-apiserver', 'etcd', 'kube-controller-manager', 'kube-scheduler', 'containerd']) {
  test(`a deployment during which ${name} is killed ends with the new version, and no request is lost`, async (t) => {
    const traffic = startTraffic(application.url, 50)
    t.after(() => traffic.stop())
    const [former] = await imagesOfPods()
    await application.ship(web(name, { startMs: 2000 }))
    await application.reaches(['DEPLOYING'])
    await killed(name)
    // It claims nothing that nobody can know.
    const meanwhile = await application.status()
    assert.equal(meanwhile.state, 'DEPLOYING', JSON.stringify(meanwhile))
    assert.equal((await application.answer()).status, 200)
    await startCluster()
    const { state, reason } = await application.settles(180_000)
    assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
    await until('the new version answers', async () => (await application.answer()).body === name)
    const images = await until('one pod is left', async () => {
      const seen = await imagesOfPods()
      return seen.length === 1 && seen
    })
    assert.notEqual(images[0], former)
    assert.deepEqual((await traffic.stop()).lost, [])
  })
}
