import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { assertDeployedOnce, assertToldOnce, lastRequest } from '../support/deployment-facts.ts'
import { seeded } from '../support/seed.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { startReceiver } from '../support/webhook-receiver.ts'

const kills = 20
let server: ServerProcess
let receiver: Awaited<ReturnType<typeof startReceiver>>
let application: TestApplication

before(async () => {
  server = await startServer()
  receiver = await startReceiver()
  await server.must('POST', `/organization/${server.organizationId}/webhook`, {
    target_url: receiver.url,
    events: ['DEPLOYMENT_STARTED', 'DEPLOYMENT_SUCCESSFUL', 'DEPLOYMENT_FAILURE', 'DEPLOYMENT_CANCELLED'],
  })
  application = await makeWeb(server)
  await application.run(web('first'))
})
after(async () => {
  receiver?.close()
  await application?.git.remove()
  await server?.close()
})

test(`a deployment succeeds although the server is killed ${kills} times at random moments`, async (t) => {
  const random = seeded(t)
  const traffic = startTraffic(application.url, 50)
  t.after(() => traffic.stop())
  await application.ship(web('survivor', { buildMs: 300 }))
  const request = await lastRequest(server, application)
  for (let kill = 1; kill <= kills; kill++) {
    await server.restart({ ready: false })
    // The moment is random on purpose. A start takes about a second, as does a deployment.
    await clock.sleep(400 + random.below(1600))
    await server.kill9()
  }
  await server.restart()
  await assertDeployedOnce(server, application, { version: 'survivor', request })
  const { lost } = await traffic.stop()
  assert.deepEqual(lost, [])
  await assertToldOnce([request], receiver.deliveries)
})
