import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { kinds } from '../../server/engines/index.ts'
import { label } from '../../server/engines/kubernetes/labels.ts'
import { failpoints } from '../../server/lib/failpoint.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { doneSteps, lastRequest, nothingWorks } from '../support/deployment-facts.ts'
import { makeJob, program, type TestJob } from '../support/job.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { counting, web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { openKube, untilNamespaceGone } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// The server is killed while it works on a cluster. The next one completes the work once.

let server: ServerProcess
let clusterId: string
const env = clusterSettings('failpoints')
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({ env })
  const cluster = await addDeployedCluster(server, 'far')
  clusterId = cluster.id
})
after(async () => {
  if (server) await removeAll()
  kube.close()
})

async function removeAll(): Promise<void> {
  const left = await namespaces()
  await server.close()
  for (const name of left) await kube.remove(kinds.namespace, { name }, limit())
}

/** Returns the namespaces of all environments, also of copies. */
async function namespaces(): Promise<string[]> {
  const rows = await server.sql<{ id: string }[]>`select id from environment where cluster_id = ${clusterId}`
  return rows.map(({ id }) => `quayside-${id}`)
}

/** Two versions of a service, and its copy, reserve it on a node with two cores. */
const small = { cpu: 100 }
const environment = (name: string): Promise<string> => makeEnvironment(server, name, clusterId)

/** Returns the names of the Deployments and of the pods that do not leave, of a service. */
async function objectsOf(service: string) {
  const selection = { labels: { [label.service]: service } }
  const [deployments, pods] = await Promise.all([
    kube.list(kinds.deployment, selection, limit()),
    kube.list(kinds.pod, selection, limit()),
  ])
  return {
    deployments: deployments.items.map(({ metadata }) => metadata.name),
    pods: pods.items
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => metadata.name),
  }
}

describe('a server killed during a deployment on a cluster', () => {
  let application: TestApplication
  before(async () => {
    application = await makeApplication(server, {
      environmentId: await environment('web'),
      name: 'web',
      settings: small,
    })
    await application.run(web('first'))
  })
  after(() => application?.git.remove())

  // Nothing is sent to a webhook here.
  for (const point of failpoints.filter((one) => one !== 'webhook.sent')) {
    test(`at ${point} completes it once after its next start, and no request is lost`, async (t) => {
      await application.git.push(web(point))
      await nothingWorks(server)
      await server.restart({ env, failpoint: `${point}:kill` })
      await application.reaches(['RUNNING'])
      const traffic = startTraffic(application.url, 50)
      t.after(() => traffic.stop())
      await application.deploy().catch(() => {})
      assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
      const request = await lastRequest(server, application)
      const recorded = await doneSteps(server, request)
      await server.restart({ env })
      const { state, reason } = await application.settles(180_000)
      assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
      await until('the new version answers', async () => (await application.answer()).body === point)
      const { deployments, pods } = await until('one release is left', async () => {
        const seen = await objectsOf(application.id)
        return seen.deployments.length === 1 && seen
      })
      assert.deepEqual([deployments.length, pods.length], [1, 1])
      const steps = new Map((await doneSteps(server, request)).map((step) => [step.name, step]))
      for (const step of recorded) assert.deepEqual(steps.get(step.name), step, `step ${step.name} ran again`)
      assert.deepEqual((await traffic.stop()).lost, [])
    })
  }
})

describe('a server killed during a run of a job on a cluster', () => {
  let job: TestJob
  before(async () => {
    const on_start = program(`setTimeout(() => console.log('ran'), 500)`)
    const environmentId = await environment('jobs')
    job = await makeJob(server, { environmentId, name: 'once', schedule: { on_start }, settings: small })
    await job.deploy()
    assert.equal((await job.settles()).state, 'DEPLOYED')
  })
  after(() => job?.git.remove())

  for (const point of ['task.created', 'task.started', 'task.ended'] as const) {
    test(`at ${point} completes it, and the program runs once`, async () => {
      const lines = await job.printed('ran')
      await server.restart({ env, failpoint: `${point}:kill` })
      await job.deploy()
      assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
      await server.restart({ env })
      assert.equal((await job.settles()).state, 'DEPLOYED')
      const [run] = await job.runs()
      assert.deepEqual([run?.status, run?.tries], ['SUCCESS', 1])
      await until('its line is stored', async () => (await job.printed('ran')) === lines + 1)
      const selection = { labels: { [label.service]: job.id } }
      await until('its Job is removed', async () => (await kube.list(kinds.job, selection, limit())).items.length === 0)
    })
  }
})

describe('a server killed during a copy of volumes on a cluster', () => {
  let application: TestApplication
  before(async () => {
    application = await makeApplication(server, {
      environmentId: await environment('data'),
      name: 'counter',
      settings: { ...small, storage: [{ mount_point: '/data', size: 1, type: 'FAST_SSD' }] },
    })
    await application.run(counting())
  })
  after(() => application?.git.remove())

  for (const point of ['copy.paused', 'copy.copied'] as const) {
    test(`at ${point} gives the service back, completes the copy and leaves no pod of its own`, async () => {
      await nothingWorks(server)
      await server.restart({ env, failpoint: `${point}:kill` })
      await application.reaches(['RUNNING'])
      const body = { name: point.replace('.', '-'), with_data: true }
      await server.api('POST', `/environment/${application.environmentId}/clone`, body).catch(() => {})
      assert.equal((await server.exited()).signal, 'SIGKILL', `${point} was not reached`)
      await server.restart({ env })
      await application.reaches(['RUNNING'], 120_000)
      await until('it answers', async () => (await application.answer()).status === 200)
      await nothingWorks(server)
      const own = new Set(await namespaces())
      const { items } = await kube.list(kinds.pod, { labels: { [label.manager]: 'quayside' } }, limit())
      assert.deepEqual(
        items
          .filter(({ metadata }) => own.has(metadata.namespace ?? '') && metadata.labels?.[label.helper] !== undefined)
          .map(({ metadata }) => metadata.name),
        [],
      )
      const namespace = `quayside-${application.environmentId}`
      const held = await kube.list(kinds.deployment, { namespace, labels: { [label.held]: 'true' } }, limit())
      assert.deepEqual(held.items, [])
    })
  }
})

describe('a server killed during a deletion on a cluster', () => {
  test('at retire.stopped leaves nothing after its next start', async () => {
    const environmentId = await environment('deleted')
    const application = await makeApplication(server, { environmentId, name: 'deleted', settings: small })
    await application.run(web('deleted'))
    await nothingWorks(server)
    await server.restart({ env, failpoint: 'retire.stopped:kill' })
    await application.reaches(['RUNNING'])
    await server.api('DELETE', `/environment/${environmentId}`).catch(() => {})
    assert.equal((await server.exited()).signal, 'SIGKILL', 'it was not reached')
    await server.restart({ env })
    await untilNamespaceGone(kube, environmentId)
    assert.equal((await server.api('GET', `/environment/${environmentId}`)).status, 404)
    await application.git.remove()
  })
})
