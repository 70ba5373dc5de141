import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { TestApplication } from '../support/application.ts'
import { assertDeployedOnce, lastRequest } from '../support/deployment-facts.ts'
import { type PrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { isRunningWith } from '../support/secret-search.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'
import { startPrivateWebServer } from '../support/web-server.ts'

// An engine that dies or is suspended costs neither requests nor deployments. The machine's own
// engine is not touched.

const skip = (await whyNoPrivateEngine()) ?? false
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let application: TestApplication

before(
  async () => {
    if (skip) return
    ;({ engine, server, application, close } = await startPrivateWebServer(web('first')))
  },
  { timeout: 180_000 },
)
after(() => close?.())

const containerRuns = (count: number): Promise<true> =>
  until('the new container runs', async () => {
    const containers = await server.engine.containersWith(`quayside.service=${application.id}`)
    return containers.filter(({ State }) => State === 'running').length === count
  })

test('requests succeed while the engine is killed and restarted', { skip }, async (t) => {
  const traffic = startTraffic(application.url, 50)
  t.after(() => traffic.stop())
  await traffic.sends(20)
  await engine.kill9()
  await traffic.sends(150)
  await engine.start()
  await traffic.sends(150)
  const { lost } = await traffic.stop()
  assert.deepEqual(lost, [])
  await application.reaches(['RUNNING'])
  await containerRuns(1)
})

test('a deployment continues after the engine is killed while it starts a version', { skip }, async (t) => {
  const traffic = startTraffic(application.url, 50)
  t.after(() => traffic.stop())
  await application.ship(web('after the kill', { startMs: 2500 }))
  const request = await lastRequest(server, application)
  await containerRuns(2)
  await engine.kill9()
  const waiting = await until('the log says that the deployment waits', async () =>
    (await application.deploymentLog()).find(({ message }) =>
      /engine cannot be reached/.test(message?.safe_message ?? ''),
    ),
  )
  assert.equal(waiting.type, 'warning')
  await engine.start()
  await assertDeployedOnce(server, application, { version: 'after the kill', request })
  assert.deepEqual((await traffic.stop()).lost, [])
})

test('a deployment continues after the engine is killed while it builds', { skip }, async () => {
  await application.ship(web('after the kill of its build', { buildMs: 6000 }))
  const request = await lastRequest(server, application)
  await application.reaches(['BUILDING'])
  await until('the build runs', () => isRunningWith('setTimeout(() => {}, 6000)'))
  await engine.kill9()
  await engine.start()
  await assertDeployedOnce(server, application, { version: 'after the kill of its build', request, limitMs: 180_000 })
})

test('an engine that is suspended for two minutes delays no API answer, and work continues afterwards', {
  skip,
}, async () => {
  await application.ship(web('after two minutes', { startMs: 1500 }))
  const request = await lastRequest(server, application)
  await containerRuns(2)
  engine.pause()
  try {
    const began = now()
    const slowest: number[] = []
    await until(
      'two minutes have passed',
      async () => {
        const asked = now()
        await application.status()
        slowest.push(now() - asked)
        assert.equal((await application.answer()).status, 200)
        return now() - began > 120_000
      },
      { limitMs: 180_000, everyMs: 200 },
    )
    const late = slowest.filter((ms) => ms > 2000)
    assert.ok(late.length < slowest.length / 20, `${late.length} of ${slowest.length} answers took more than 2 s`)
    const waits = (await application.deploymentLog()).some(({ message }) =>
      /engine cannot be reached/.test(message?.safe_message ?? ''),
    )
    assert.ok(waits, 'the log does not say what the deployment waits for')
  } finally {
    engine.resume()
  }
  await assertDeployedOnce(server, application, { version: 'after two minutes', request, limitMs: 180_000 })
})

test('an engine that is suspended delays no API answer, and deployments wait for it', { skip }, async () => {
  await application.ship(web('after the pause', { startMs: 1500 }))
  const request = await lastRequest(server, application)
  await containerRuns(2)
  engine.pause()
  try {
    const began = now()
    for (let n = 0; n < 50; n++) {
      await application.status()
      await application.history()
    }
    assert.ok(now() - began < 15_000, `100 answers took ${now() - began} ms`)
    assert.equal((await application.answer()).body, 'after two minutes')
  } finally {
    engine.resume()
  }
  await assertDeployedOnce(server, application, { version: 'after the pause', request })
})
