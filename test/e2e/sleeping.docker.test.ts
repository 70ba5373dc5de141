import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { heardBy, publicUrls, speaking } from '../support/speaking.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// An idle service does not run, and the next request only takes longer.

let server: ServerProcess
let application: TestApplication

before(
  async () => {
    server = await startServer()
    const settings = {
      min_running_instances: 0,
      max_running_instances: 1,
      autoscaling: {
        mode: 'KEDA',
        cooldown_period_seconds: 1,
        scalers: [{ scaler_type: 'http', role: 'PRIMARY', config_json: { any: 'thing' } }],
      },
    }
    const environmentId = await makeEnvironment(server, 'sleep')
    application = await makeApplication(server, { environmentId, name: 'web', settings })
    await application.run(web('awake'))
  },
  { timeout: 120_000 },
)
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const containers = async (): Promise<number> =>
  (await server.engine.containersWith(`quayside.service=${application.id}`)).length

const sleeps = (): Promise<unknown> =>
  until('it sleeps', async () => (await containers()) === 0, { limitMs: 80_000, seen: () => server.output.slice(-8) })

async function killRouter(): Promise<void> {
  const router = await findRouter({ controlSocket: join(server.dataDirectory, 'router/control.sock') })
  process.kill(router?.pid ?? assert.fail('no router runs'), 'SIGKILL')
}

const herd = (size: number): Promise<unknown[]> =>
  Promise.all(Array.from({ length: size }, () => get(application.url).catch(String)))

test('many concurrent requests wake a sleeping service once, and none is lost', { timeout: 200_000 }, async () => {
  await sleeps()
  const asleep = await application.status()
  assert.deepEqual([asleep.state, asleep.reason], ['RUNNING', null])
  const isStopped = () =>
    server.sql`select from observation where service_id = ${application.id} and state = 'stopped'`.then(([row]) => row)
  await until('the service is observed as stopped', isStopped)
  for (const answer of await herd(100)) assert.deepEqual(answer, { status: 200, body: 'awake' })
  assert.equal(await containers(), 1)
  let lines: string[] = []
  const isAwake = async () => {
    lines = (await application.log()).map(({ message }) => message)
    return lines.filter((line) => line === 'up awake').length >= 2
  }
  await until('both starts are logged', isAwake, { seen: () => lines })
  assert.equal(lines.filter((line) => line === 'up awake').length, 2, lines.join('\n'))
})

test('requests that arrive while a service falls asleep are answered', { timeout: 200_000 }, async () => {
  for (let round = 0; round < 2; round++) {
    const isAsleep = async () => {
      const [row] = await server.sql`select from service_scale where service_id = ${application.id} and replicas = 0`
      return row !== undefined
    }
    await until('the service is scaled to zero', isAsleep, { limitMs: 80_000, everyMs: 2 })
    for (const answer of await herd(20)) assert.deepEqual(answer, { status: 200, body: 'awake' })
  }
})

test('a request that arrives while the server is down waits for it', { timeout: 200_000 }, async () => {
  await sleeps()
  await server.kill9()
  const answer = get(application.url)
  await server.restart()
  assert.deepEqual(await answer, { status: 200, body: 'awake' })
})

test('a request without the password is rejected and wakes nothing', { timeout: 200_000 }, async () => {
  const path = `/application/${application.id}`
  await server.must('POST', `${path}/secret`, {
    key: 'WHO',
    value: 'ann:open sesame, ben:{SHA}W8r/fyL/UzygmbNAjq2HbA67qac=',
  })
  await server.must('PUT', `${path}/advancedSettings`, { 'network.ingress.basic_auth_env_var': 'WHO' })
  await application.run(web('awake'))
  await sleeps()
  assert.equal((await get(application.url)).status, 401)
  assert.equal(await containers(), 0)
  await killRouter()
  const as = (who: string) => get(application.url.replace('://', `://${encodeURI(who)}@`)).catch(() => undefined)
  await until('the password is accepted', async () => (await as('ann:open sesame'))?.status === 200)
  assert.equal((await as('ben:open sesame'))?.status, 200)
  assert.equal((await as('ben:open'))?.status, 401)
})

test('ports of this machine wake a sleeping service, also after everything was killed', {
  timeout: 240_000,
}, async () => {
  const path = `/application/${application.id}`
  const port = { publicly_accessible: true, protocol: 'TCP' }
  const ports = [
    { ...port, internal_port: 8080 },
    { ...port, internal_port: 8081, protocol: 'UDP' },
  ]
  await server.must('PUT', path, { ports, healthchecks: {} })
  const tree = web('awake')
  await application.run({ ...tree, 'app.js': `${tree['app.js']}\n${speaking}` })
  const { tcp, udp } = await publicUrls(server, application)
  await sleeps()
  assert.equal(await heardBy(udp), 'heard hello')
  assert.deepEqual(await get(tcp), { status: 200, body: 'awake' })
  await killRouter()
  await server.kill9()
  await server.restart()
  await until('it answers', async () => (await get(tcp).catch(() => undefined))?.body === 'awake')
  assert.equal(await heardBy(udp), 'heard hello')
})
