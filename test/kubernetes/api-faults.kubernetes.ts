import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'
import { type ApiProxy, type Fault, only, refuse, startApiProxy } from './support/api-proxy.ts'

// A whole server whose cluster answers badly, beside a cluster that works. The tests build on each
// other.

let server: ServerProcess
let proxy: ApiProxy
let [bad, good]: AddedCluster[] = []
let application: TestApplication
let neighbour: TestApplication
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  proxy = await startApiProxy()
  server = await startServer({ env: clusterSettings('api-faults') })
  const connected = async (name: string, kubeconfig: string | undefined): Promise<AddedCluster> => {
    const cluster = await addCluster(server, name)
    if (kubeconfig === undefined) await cluster.connect()
    else assert.equal((await cluster.putKubeconfig(kubeconfig)).status, 204)
    const { status, lines } = await cluster.deploy()
    assert.equal(status, 'DEPLOYED', lines)
    return cluster
  }
  bad = await connected('bad', await proxy.kubeconfig())
  good = await connected('good', undefined)
  application = await makeApplication(server, {
    environmentId: await makeEnvironment(server, 'bad', bad.id),
    name: 'bad',
  })
  await application.run(web('first'))
  neighbour = await makeApplication(server, {
    environmentId: await makeEnvironment(server, 'good', good.id),
    name: 'good',
  })
})
after(async () => {
  await application?.git.remove()
  await neighbour?.git.remove()
  await server?.close()
  await proxy?.close()
  for (const one of [application, neighbour]) {
    if (one) await kube.remove(kinds.namespace, { name: `quayside-${one.environmentId}` }, limit())
  }
  kube.close()
})

const podNames = async (): Promise<string[]> => {
  const { items } = await kube.list(kinds.pod, { labels: { [label.service]: application.id } }, limit())
  return items.map(({ metadata }) => metadata.name)
}
const faults: readonly (readonly [string, Fault])[] = [
  ['answers 500 to everything', refuse(500, 'InternalError')],
  ['asks everybody to wait', refuse(429, 'TooManyRequests', { 'retry-after': '1' })],
  ['says that every version is too old', refuse(410, 'Expired')],
  ['answers with pages', (_, response) => void response.end('<html></html>')],
  ['never answers', () => {}],
  ['refuses the credentials', refuse(401, 'Unauthorized')],
  ['refuses to list pods', only(({ path }) => path.includes('/pods'), refuse(403, 'Forbidden'))],
]

test('a cluster that answers badly changes no state, repairs nothing and delays no other cluster', async (t) => {
  t.after(() => proxy.answerWith(undefined))
  const pods = await podNames()
  let version = 0
  for (const [what, fault] of faults) {
    const from = proxy.requests.length
    const states = new Set<string>()
    proxy.answerWith(fault)
    proxy.cutWatches()
    const watching = new AbortController()
    const watched = (async () => {
      while (!watching.signal.aborted) states.add((await application.status()).state)
    })()
    // A whole deployment on the other cluster takes longer than several looks at this one.
    await neighbour.run(web(`while it ${what} ${++version}`))
    proxy.answerWith(undefined)
    await application.reaches(['RUNNING'])
    watching.abort()
    await watched
    assert.deepEqual([...states], ['RUNNING'], what)
    const writes = proxy.requests.slice(from).filter(({ method, path }) => {
      return method !== 'GET' && !path.includes('selfsubjectaccessreviews')
    })
    assert.deepEqual(writes, [], what)
    assert.deepEqual(await podNames(), pods, what)
    assert.equal((await application.answer()).body, 'first')
  }
  assert.ok((await proxy.openConnections()) <= 40, `${await proxy.openConnections()} connections`)
})

test('a deployment waits for an API server that is away, and continues by itself', async (t) => {
  t.after(() => proxy.answerWith(undefined))
  proxy.answerWith(refuse(503, 'ServiceUnavailable'))
  proxy.cutWatches()
  await application.ship(web('second'))
  await until('its log says so', async () =>
    (await application.deploymentLog()).some(({ message }) =>
      String(message?.safe_message).includes('The engine cannot be reached; trying again until it answers.'),
    ),
  )
  assert.equal((await application.answer()).body, 'first')
  proxy.answerWith(undefined)
  const { state, reason } = await application.settles(120_000)
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
  await until('it answers', async () => (await application.answer()).body === 'second')
})

test('a deployment with a token that was withdrawn fails with what to do, and the version stays', async (t) => {
  t.after(() => proxy.answerWith(undefined))
  const { body } = await application.answer()
  proxy.answerWith(refuse(401, 'Unauthorized'))
  proxy.cutWatches()
  await application.ship(web('third'))
  const { reason } = await application.settles()
  assert.match(String(reason), /the cluster does not accept the kubeconfig/)
  assert.equal((await application.answer()).body, body)
  proxy.answerWith(undefined)
  await application.run(web('fourth'))
  assert.equal((await application.answer()).body, 'fourth')
})
