import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { usePublishedImage } from '../../server/engines/kubernetes/test-image.ts'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'
import { ports } from './cluster/settings.ts'
import { type AddedCluster, addCluster, clusterSettings } from './support/add-cluster.ts'
import { askController } from './support/ingress-bench.ts'

// A server without a Docker Engine. The tests build on each other.

const image = usePublishedImage()
let server: ServerProcess
let cluster: AddedCluster
let environmentId: string

before(async () => {
  server = await startServer({ env: { ...clusterSettings('without-docker'), QUAYSIDE_DOCKER_HOST: 'none' } })
})
after(() => server?.close())

test('it starts without the built-in cluster and the example', async () => {
  const clusters = await server.must<{ results: unknown[] }>('GET', `/organization/${server.organizationId}/cluster`)
  assert.deepEqual(clusters.results, [])
  assert.ok(
    server.output.some((line) => line.startsWith('Connect a cluster of Kubernetes')),
    server.output.join('\n'),
  )
})

test('a cluster with a domain of its own is deployed', async () => {
  cluster = await addCluster(server, 'far')
  await cluster.connect()
  const dns_provider = { provider: 'QOVERY', domain: 'plain.far.test' }
  await server.must('PUT', `/cluster/${cluster.id}/dnsProvider`, { dns_provider })
  const { status, lines } = await cluster.deploy()
  assert.equal(status, 'DEPLOYED', lines)
  environmentId = await makeEnvironment(server, 'far', cluster.id)
})

const web = (answer: string) => ({
  image_name: 'quayside-engine-test/node',
  tag: (image.reference().split('@')[1] ?? '').replace(':', '-'),
  entrypoint: 'node',
  arguments: ['-e', `require('http').createServer((_, r) => r.end(${JSON.stringify(answer)})).listen(8080)`],
  cpu: 100,
  memory: 64,
  healthchecks: {},
  ports: [{ internal_port: 8080, publicly_accessible: true, protocol: 'HTTP' }],
})
const stateOf = async (id: string) =>
  (await server.must<{ state: string; last_deployment_date?: string }>('GET', `/container/${id}/status`)).state

test('an image of a registry is copied to the registry of the clusters, runs and answers', async () => {
  const registry = await server.must<{ id: string }>(
    'POST',
    `/organization/${server.organizationId}/containerRegistry`,
    { name: 'tests', kind: 'GENERIC_CR', url: `https://localhost:${ports.registry}`, config: {} },
  )
  const { id } = await server.must<{ id: string }>('POST', `/environment/${environmentId}/container`, {
    name: 'web',
    registry_id: registry.id,
    ...web('copied'),
  })
  const deploy = async () => {
    await server.must('POST', `/container/${id}/deploy`)
    const state = await until(
      'the deployment ends',
      async () => {
        const found = await stateOf(id)
        return /^(?:DEPLOYED|RUNNING|.*_ERROR)$/.test(found) && found
      },
      { limitMs: 120_000 },
    )
    assert.match(state, /^(?:DEPLOYED|RUNNING)$/, server.output.slice(-20).join('\n'))
  }
  await deploy()
  const [link] = (await server.must<{ results: { url: string }[] }>('GET', `/container/${id}/link`)).results
  assert.ok(link)
  const { hostname } = new URL(link.url)
  await until('it answers', async () => (await askController(hostname)).body === 'copied')
  // The second time every part is there.
  await deploy()
  await until('it answers', async () => (await askController(hostname)).body === 'copied')
})

test('an application, which would be built, is rejected with the reason', async () => {
  const created = await server.api<{ id: string }>('POST', `/environment/${environmentId}/application`, {
    name: 'built',
    git_repository: { url: `${server.apiUrl}/git/built.git`, branch: 'main' },
    ports: [],
    healthchecks: {},
  })
  const plan = await server.api('POST', `/environment/${environmentId}/deploy?dry_run=true`)
  const answers = JSON.stringify([created, plan])
  assert.match(answers, /this installation builds no images, because it has no Docker Engine/, answers)
})
