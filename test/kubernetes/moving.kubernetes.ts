import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { kinds } from '../../server/engines/kubernetes/client/index.ts'
import { instanceOn, label, ownLabels } from '../../server/engines/kubernetes/labels.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { counting } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { openKube } from './support/access.ts'
import { addDeployedCluster, clusterSettings } from './support/add-cluster.ts'

// An environment with data moves from the machine of the platform to a cluster and back, and is
// backed up there. The tests build on each other.

interface Outcome {
  readonly state: string
  readonly message: string | null
}

interface Backup {
  readonly id: string
  readonly status: Outcome
  readonly proof: Outcome
  readonly restore: Outcome
}

interface Moved {
  readonly environmentId: string
  readonly id: string
  readonly url: string
}

let server: ServerProcess
let clusterId: string
let home: string
let application: TestApplication
let far: Moved
const kube = openKube()
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

before(async () => {
  server = await startServer({ env: clusterSettings('moving') })
  const cluster = await addDeployedCluster(server, 'far')
  clusterId = cluster.id
  const clusters = await server.must<{ results: { id: string; is_default: boolean }[] }>(
    'GET',
    `/organization/${server.organizationId}/cluster`,
  )
  home = clusters.results.find(({ is_default }) => is_default)?.id ?? ''
})
after(async () => {
  await server?.close()
  kube.close()
})

/** Returns the number that the application found in both of its files when it started. */
async function foundAt(url: string): Promise<number> {
  const [first = 0, second = 0] = (await get(url)).body.split(' ').map(Number)
  assert.ok(first === second || first === second + 1, `the files are not of one moment: ${first} ${second}`)
  return first
}

/** Copies an environment with its data to a cluster, and deploys the copy. */
async function move(environmentId: string, name: string, cluster_id: string): Promise<Moved> {
  const body = { name, with_data: true, cluster_id }
  const copy = await server.must<{ id: string }>('POST', `/environment/${environmentId}/clone`, body)
  await server.must('POST', `/environment/${copy.id}/deploy`)
  const path = `/environment/${copy.id}/application`
  const [service] = (await server.must<{ results: { id: string }[] }>('GET', path)).results
  assert.ok(service)
  const status = async () =>
    server.must<{ state: string; reason: string | null }>('GET', `/application/${service.id}/status`)
  let last: unknown
  await until(
    'the copy runs',
    async () => {
      const { state, reason } = await status()
      last = { state, reason }
      assert.doesNotMatch(state, /ERROR/, String(reason))
      return state === 'RUNNING'
    },
    { limitMs: 90_000, seen: () => last },
  )
  const links = await server.must<{ results: { url: string }[] }>('GET', `/application/${service.id}/link`)
  return { environmentId: copy.id, id: service.id, url: links.results[0]?.url ?? '' }
}

test('an environment with data moves to a cluster', async () => {
  const environmentId = await makeEnvironment(server, 'here')
  const storage = [{ mount_point: '/data', size: 1, type: 'FAST_SSD' }]
  application = await makeApplication(server, { environmentId, name: 'counter', settings: { storage } })
  await application.run(counting())
  assert.equal(await foundAt(application.url), 0)
  far = await move(environmentId, 'there', clusterId)
  const { items } = await kube.list(kinds.pod, { labels: { [label.service]: far.id } }, limit())
  assert.equal(items.length, 1)
  assert.ok((await foundAt(far.url)) > 0, 'the copy has the data')
})

test('it is backed up on the cluster, proven and restored', async () => {
  const path = `/application/${far.id}/backup`
  let last: Backup | undefined
  const { id } = await server.must<Backup>('POST', path)
  const look = async () => {
    last = (await server.must<{ results: Backup[] }>('GET', path)).results.find((one) => one.id === id)
    return last
  }
  const reaches = (part: 'status' | 'proof' | 'restore', state: string): Promise<Backup> =>
    until(
      `${part} of the backup is ${state}`,
      async () => {
        const backup = await look()
        assert.notEqual(backup?.[part].state, 'FAILED', String(backup?.[part].message))
        return backup?.[part].state === state && backup
      },
      { limitMs: 90_000, seen: () => last },
    )
  await reaches('status', 'SUCCEEDED')
  await reaches('proof', 'PROVEN')
  // The copy of the backup was made while the application was away.
  const copied = await until('it answers', async () => (await get(far.url)).status === 200 && foundAt(far.url))
  await server.must('POST', `${path}/${id}/restore`)
  await reaches('restore', 'SUCCEEDED')
  await until('it answers', async () => (await get(far.url)).status === 200)
  assert.equal(await foundAt(far.url), copied)
})

test('it moves back, and nothing is left on the cluster', async () => {
  const before = await foundAt(far.url)
  const back = await move(far.environmentId, 'back', home)
  assert.ok((await foundAt(back.url)) > before, 'the copy has the data')
  await server.must('DELETE', `/environment/${far.environmentId}`)
  await until('nothing of it is left', async () => {
    const { items } = await kube.list(
      kinds.namespace,
      { labels: ownLabels(instanceOn(server.instance, clusterId)) },
      limit(),
    )
    return items.length === 0
  })
})
