import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Cleanup } from '../../server/database/testing.ts'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import type { Tree } from '../support/git-remote.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic, type Tally, type Traffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A new version gets a growing share of real requests, and all of them only if few of them fail.

let server: ServerProcess
let application: TestApplication

before(
  async () => {
    server = await startServer()
    const environmentId = await makeEnvironment(server, 'canary')
    application = await makeApplication(server, { environmentId, name: 'web' })
    await application.run(web('one'))
  },
  { timeout: 180_000 },
)
after(async () => {
  await application?.git.remove()
  await server?.close()
})

const plan = (steps: string, seconds: number) =>
  server.must('PUT', `/application/${application.id}/advancedSettings`, {
    'deployment.canary.steps': steps,
    'deployment.canary.step_seconds': seconds,
    'deployment.canary.max_error_percent': 10,
    'deployment.canary.min_requests': 20,
  })

/** Answers every request with status 500, but is healthy. */
const failing: Tree = {
  ...web('bad'),
  'app.js': `
    require('node:http').createServer((request, response) => {
      response.statusCode = 500
      response.end('bad')
    }).listen(8080, () => console.log('up'))
    process.on('SIGTERM', () => process.exit(0))`,
}

const shareIn = (percent: number) =>
  until(
    `the new version gets ${percent} %`,
    async () => {
      const [row] = await server.sql`
      select from canary where service_id = ${application.id} and percent = ${percent}`
      return row !== undefined
    },
    { limitMs: 90_000, seen: () => server.output.slice(-5) },
  )

async function currentStep(): Promise<unknown> {
  const [row] = await server.sql`select step, step_started_at from canary where service_id = ${application.id}`
  return { ...row }
}

const lines = async (): Promise<string[]> =>
  (await application.deploymentLog()).map((line) => String(Object(line).message?.safe_message ?? JSON.stringify(line)))

/** Sends requests until `stop`, or until the test has ended. */
function send(t: Cleanup, perSecond: number): Traffic {
  const traffic = startTraffic(application.url, perSecond)
  t.after(async () => void (await traffic.stop()))
  return traffic
}

const count = ({ bodies }: Tally, body: string): number => bodies.get(body) ?? 0

async function killRouter(): Promise<void> {
  const router = await findRouter({ controlSocket: join(server.dataDirectory, 'router/control.sock') })
  process.kill(router?.pid ?? assert.fail('no router runs'), 'SIGKILL')
}

test('a good version gets its share in each step, then everything, and no request is lost', {
  timeout: 200_000,
}, async (t) => {
  await plan('10,50', 10)
  await application.ship(web('two'))
  const traffic = send(t, 50)
  await shareIn(10)
  const start = { sent: traffic.tally().sent, two: count(traffic.tally(), 'two') }
  await shareIn(50)
  const middle = { sent: traffic.tally().sent, two: count(traffic.tally(), 'two') }
  await application.settles()
  assert.equal((await application.answer()).body, 'two')
  const end = await traffic.stop()
  assert.deepEqual(end.lost, [])
  const share = (middle.two - start.two) / (middle.sent - start.sent)
  assert.ok(share > 0.07 && share < 0.13, `share of the first step: ${share}`)
  const said = (await lines()).join('\n')
  assert.match(said, /Step 1 of 2: 10 % of requests go to the new version for 10 s\./)
  assert.match(said, /50 % of requests go to the new version: 0 of \d+ failed\./)
})

test('a version that fails goes back, and its clients saw no more than its share of errors', {
  timeout: 200_000,
}, async (t) => {
  await plan('20,100', 60)
  const traffic = send(t, 50)
  await application.ship(failing)
  await shareIn(20)
  await application.settles()
  const end = await traffic.stop()
  const said = (await lines()).join('\n')
  assert.match(
    said,
    /It went back to the previous version: \d+ of \d+ requests to the new version failed \(100 %, the limit is 10 %/,
  )
  assert.ok(end.lost.length >= 20 && end.lost.length <= 60, `${end.lost.length} of ${end.sent} were lost`)
  assert.deepEqual([...end.bodies.keys()], ['two'])
  assert.equal((await application.answer()).body, 'two')
})

test('a share survives the ends of server and router, and a step continues instead of beginning again', {
  timeout: 200_000,
}, async (t) => {
  await plan('30', 25)
  const traffic = send(t, 30)
  await application.ship(web('three'))
  await shareIn(30)
  await until('the new version answers', () => count(traffic.tally(), 'three') > 0)
  const begun = await currentStep()
  await server.kill9()
  const alone = { sent: traffic.tally().sent, three: count(traffic.tally(), 'three') }
  await traffic.sends(100)
  const later = { sent: traffic.tally().sent, three: count(traffic.tally(), 'three') }
  const share = (later.three - alone.three) / (later.sent - alone.sent)
  assert.ok(share > 0.24 && share < 0.36, `share without a server: ${share}`)
  await server.restart()
  assert.deepEqual(await currentStep(), begun)
  await application.settles()
  const end = await traffic.stop()
  assert.deepEqual(end.lost, [])
  assert.equal((await application.answer()).body, 'three')
  assert.equal((await lines()).filter((line) => line.startsWith('Step 1 of 1')).length, 1)
})

test('a router that is killed has its shares again, and the counts of before are kept', {
  timeout: 200_000,
}, async (t) => {
  await plan('50', 15)
  await application.ship(web('four'))
  await shareIn(50)
  const traffic = send(t, 30)
  await traffic.sends(60)
  const counted = () => server.sql`
    select from canary, jsonb_each(counts) where service_id = ${application.id} and (value ->> 'requests')::int > 20`
  await until('the first router has counted', async () => (await counted()).length === 1)
  await traffic.stop()
  await killRouter()
  const isBack = () =>
    application.answer().then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('the router answers', isBack)
  const again = send(t, 30)
  await until('the second router has counted', async () => (await counted()).length === 2)
  await application.settles()
  assert.deepEqual((await again.stop()).lost, [])
  assert.equal((await application.answer()).body, 'four')
})

test('a deployment that is cancelled in a step goes back at once', { timeout: 200_000 }, async (t) => {
  await plan('50', 600)
  const traffic = send(t, 30)
  await application.ship(web('five'))
  await shareIn(50)
  await until('the new version answers', () => count(traffic.tally(), 'five') > 5)
  await server.must('POST', `/environment/${application.environmentId}/cancelDeployment`, {})
  await application.settles()
  const { lost } = await traffic.stop()
  assert.deepEqual(lost, [])
  const after = send(t, 100)
  await after.sends(50)
  assert.deepEqual([...(await after.stop()).bodies.keys()], ['four'])
  const [row] = await server.sql`select from canary where service_id = ${application.id}`
  assert.equal(row, undefined)
})

test('a server that is killed while it goes back completes that', { timeout: 200_000 }, async (t) => {
  await plan('50', 600)
  await application.ship({
    ...failing,
    'app.js': `
      require('node:http').createServer((request, response) => {
        if (request.url === '/begun') return response.write('begun')
        response.statusCode = 500
        response.end('bad')
      }).listen(8080)
      process.on('SIGTERM', () => process.exit(0))`,
  })
  await shareIn(50)
  const held = startTraffic(`${application.url}/begun`, 10)
  t.after(async () => void (await held.stop()))
  await until('the new version has open requests', () => count(held.tally(), 'four') > 3)
  const traffic = send(t, 30)
  const isGoingBack = async () => {
    const [row] = await server.sql`
      select from workflow_step s join canary c on s.workflow_id = c.request_id
      where c.service_id = ${application.id} and s.name like '%/ROLLBACK' and c.endpoints = '[]'`
    return row !== undefined
  }
  await until('it goes back', isGoingBack)
  await server.restart()
  await application.settles()
  const after = send(t, 100)
  await after.sends(50)
  assert.deepEqual([...(await after.stop()).bodies.keys()], ['four'])
  await Promise.all([traffic.stop(), held.stop()])
  assert.equal((await application.answer()).body, 'four')
  const [target] = await server.sql`
    select state, reason from deployment_target where service_id = ${application.id} order by service_seq desc limit 1`
  assert.equal(target?.['state'], 'DEPLOYMENT_ERROR')
  assert.match(target?.['reason'], /went back to the previous version: \d+ of \d+ requests/)
  assert.equal((await server.engine.containersWith(`quayside.service=${application.id}`)).length, 1)
})
