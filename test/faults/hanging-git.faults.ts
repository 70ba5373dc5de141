import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, test } from 'node:test'
import { createPlatform } from '../support/platform.ts'
import { isRunningWith } from '../support/secret-search.ts'
import { now, until } from '../support/until.ts'

// A git server that accepts connections and never answers delays only the organization that uses
// it.

const many = 50
const platform = await createPlatform(
  { after },
  { works: true, settings: { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } },
)
const { a, b, call, database } = platform

test(`${many} deployments that wait for a silent git server can be cancelled and delay no other organization`, async (t) => {
  let asked = 0
  const deaf = createServer((socket) => {
    asked++
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  t.after(() => void deaf.close())
  await once(deaf, 'listening')
  const address = deaf.address()
  const place = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const send = async (tenant: typeof a, method: string, path: string, body?: object) => {
    const answer = await call(tenant.tokens.ADMIN, method, path, body)
    assert.ok(answer.status < 300, answer.text)
    return Object(answer.body)
  }
  const environments: string[] = []
  for (let n = 0; n < many; n++) {
    const { id } = await send(a, 'POST', `/project/${a.objects.projectId}/environment`, { name: `deaf-${n}` })
    const git_repository = { url: `http://${place}/nobody.git`, branch: 'main' }
    const application = await send(a, 'POST', `/environment/${id}/application`, { name: 'deaf', git_repository })
    await send(a, 'POST', `/application/${application.id}/deploy`, {})
    environments.push(id)
  }
  await until('all deployments wait', () => asked >= many, { limitMs: 60_000 })
  await platform.addRepository(b)
  const began = now()
  const path = `/application/${b.objects.applicationId}`
  await send(b, 'POST', `${path}/deploy`, {})
  await until(
    'the deployment of the other organization runs',
    async () => (await send(b, 'GET', `${path}/status`)).state === 'RUNNING',
  )
  t.diagnostic(`deployed in ${(now() - began).toFixed(0)} ms meanwhile`)
  for (const id of environments) await send(a, 'POST', `/environment/${id}/cancelDeployment`, {})
  await until(
    'all deployments are settled',
    async () => (await database`select from deployment_request where finished_at is null`).length === 0,
    { limitMs: 60_000 },
  )
  await until('git has ended', async () => !(await isRunningWith(place)))
})
