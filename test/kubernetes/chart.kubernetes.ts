import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { until } from '../support/until.ts'
import { makePlatformGround, type PlatformGround } from './support/platform-ground.ts'
import { type PlatformInPods, platformIn } from './support/platform-in-pods.ts'

// Servers of the chart in pods, with everything that an operator provides. The tests build on each
// other.

const opened = new AsyncDisposableStack()
let ground: PlatformGround
let platform: PlatformInPods
let token: string
let organizationId: string
let clusterId: string

before(
  async () => {
    ground = await makePlatformGround(opened)
    platform = platformIn(ground)
  },
  { timeout: 280_000 },
)
after(() => opened.disposeAsync(), { timeout: 280_000 })

async function must<T>(method: string, path: string, body?: unknown): Promise<T> {
  const reply = await platform.call<T>(method, path, { token, body })
  assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body
}

test('three servers become ready on an empty database, and their first start happens once', async () => {
  const notes = await platform.apply('install')
  assert.match(notes, /Quayside starts for/)
  assert.equal((await platform.pods()).length, 3)
  token = await platform.read('/data/admin-token')
  const { results } = await must<{ results: { id: string }[] }>('GET', '/organization')
  assert.equal(results.length, 1)
  organizationId = results[0]?.id ?? ''
})

test('the cluster of the servers is deployed by the first start', async () => {
  const clusters = await must<{ results: { id: string }[] }>('GET', `/organization/${organizationId}/cluster`)
  assert.equal(clusters.results.length, 1)
  clusterId = clusters.results[0]?.id ?? ''
  const path = `/organization/${organizationId}/cluster/${clusterId}`
  const state = await until('the deployment of the cluster ends', async () => {
    const { status } = await must<{ status: string }>('GET', `${path}/status`)
    return ['DEPLOYED', 'DEPLOYMENT_ERROR'].includes(status) && status
  })
  const { results } = await must<{ results: { message: { safe_message: string } }[] }>('GET', `${path}/logs`)
  const lines = results.map(({ message }) => message.safe_message).join('\n')
  assert.equal(state, 'DEPLOYED', lines)
})

test('the logs contain no secret', async () => {
  const logs = await platform.logs()
  assert.match(logs, /Ready\./)
  const link = await platform.read('/data/account-link')
  const keys = await Promise.all(['/keys/master.key', '/keys/token.pepper'].map((path) => platform.read(path)))
  for (const secret of [...ground.secrets, token, link, ...keys.map((key) => key.split('\n')[1] ?? '')]) {
    assert.ok(secret.length > 10, secret)
    assert.equal(logs.includes(secret), false)
  }
})
