import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { kubectl } from './cluster/commands.ts'
import { openKube } from './support/access.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'
import { publishBuilderImage } from './support/builder-image.ts'
import { askController } from './support/ingress-bench.ts'

// A server without a Docker Engine that builds in its cluster. The tests build on each other.

const base = usePublishedImage()
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
/** The nodes of the builder have it. */
const nodeLabel = 'quayside.test/builds'
let server: ServerProcess
let cluster: AddedCluster
let application: TestApplication

before(async () => {
  await kubectl(['label', 'node', '--all', '--overwrite', `${nodeLabel}=yes`])
  server = await startServer({
    env: {
      ...clusterSettings('built-in-cluster'),
      QUAYSIDE_DOCKER_HOST: 'none',
      QUAYSIDE_CLUSTER_BUILDER_IMAGE: await publishBuilderImage(),
      QUAYSIDE_CLUSTER_BUILDER_MEMORY: '1024',
      QUAYSIDE_CLUSTER_BUILDER_DISK: '2',
      QUAYSIDE_CLUSTER_BUILDER_NODES: `${nodeLabel}=yes`,
    },
  })
})
after(async () => {
  await kubectl(['label', 'node', '--all', `${nodeLabel}-`])
  await removeBuilder()
  await server?.close()
  kube.close()
})

/** The namespace of this installation's builder on the test cluster. */
const builderNamespace = async () => {
  const { items } = await kube.list(kinds.namespace, { labels: { 'quayside.io/builder': 'true' } }, limit())
  return items.find(({ metadata: { name } }) => name.endsWith(`-${cluster?.id.slice(-12)}`))?.metadata
}
/** Kills the pod of the builder at once. */
async function killBuilder(): Promise<void> {
  const found = await builderNamespace()
  const { items } = await kube.list(kinds.pod, { namespace: found?.name ?? '' }, limit())
  assert.equal(items.length, 1)
  for (const { metadata } of items) await kube.remove(kinds.pod, metadata, limit(), { graceSeconds: 0 })
}
const removeBuilder = async (): Promise<void> => {
  const found = await builderNamespace()
  if (found) await kube.remove(kinds.namespace, found, limit())
}

const program = (answer: string): string =>
  `process.on('SIGTERM', () => process.exit())
  const made = require('fs').readFileSync('/made')
  require('http').createServer((_, reply) => reply.end('${answer} ' + made)).listen(8080)`
const step = (script: string): string => `RUN ${JSON.stringify(['node', '-e', script])}`
/** An application whose image is built in a step. */
const tree = (answer: string, made: string, more: readonly string[] = []) => ({
  Dockerfile: [
    `FROM ${base.reference()}`,
    step(`require('fs').writeFileSync('/made', '${made}'); console.log('made ${made}')`),
    ...more,
    'COPY app.js /app.js',
    'CMD ["node", "/app.js"]',
    '',
  ].join('\n'),
  'app.js': program(answer),
})
const messages = async (): Promise<string> =>
  (await application.deploymentLog()).map(({ message }) => message?.safe_message ?? '').join('\n')

test('a cluster is deployed and gets an environment', async () => {
  cluster = await addCluster(server, 'far')
  await cluster.connect()
  const dns_provider = { provider: 'QOVERY', domain: 'built.far.test' }
  await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, { dns_provider })
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
})

test('an application is built in a pod of the cluster, runs and answers', async () => {
  const environmentId = await makeEnvironment(server, 'far', cluster.id)
  application = await makeApplication(server, { environmentId, name: 'web', settings: { cpu: 100, healthchecks: {} } })
  await application.ship(tree('first', 'one'))
  const { state, reason } = await application.settles(300_000)
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null }, await messages())
  const { hostname } = new URL(application.url)
  await until('it answers', async () => (await askController(hostname)).body === 'first one')
  const log = await messages()
  assert.match(log, /made one/)
})

test('the next build reuses steps, and a failing step shows its line', async () => {
  await application.ship(tree('second', 'one'))
  const { state, reason } = await application.settles(120_000)
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null }, await messages())
  assert.match(await messages(), /RUN .*made one.* \(unchanged, reused\)/)
  await application.ship(tree('third', 'one', [step("console.log('it is broken'); process.exit(3)")]))
  const failed = await application.settles(120_000)
  assert.match(String(failed.reason), /failed with exit code 3[\s\S]*it is broken/)
})

test('a build is cancelled within seconds', async () => {
  await application.ship(tree('third', 'one', [step("console.log('sleeping'); setTimeout(() => {}, 1e6)")]))
  await until('the step runs', async () => (await messages()).includes('sleeping'), { limitMs: 60_000 })
  await server.must('POST', `/environment/${application.environmentId}/cancelDeployment`, {})
  const { state } = await application.settles(30_000)
  assert.notEqual(state, 'BUILDING')
  const { hostname } = new URL(application.url)
  assert.equal((await askController(hostname)).body, 'second one')
})

test('a build begins again in another pod if the pod of the builder is killed', async () => {
  const slow = step("console.log('waiting'); setTimeout(() => console.log('waited'), 15e3)")
  await application.ship(tree('fourth', 'one', [slow]))
  await until('the step runs', async () => (await messages()).includes('waiting'), { limitMs: 60_000 })
  await killBuilder()
  const { state, reason } = await application.settles(300_000)
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null }, await messages())
  const { hostname } = new URL(application.url)
  await until('it answers', async () => (await askController(hostname)).body === 'fourth one')
})

test('the builder leaves with its cluster', async () => {
  assert.ok(await builderNamespace())
  await server.must('DELETE', `${cluster.path}?deleteMode=DELETE_CLUSTER_AND_QOVERY_CONFIG`)
  const isGone = async () => (await builderNamespace()) === undefined
  await until('its namespace is gone', isGone, { limitMs: 120_000 })
})
