import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { type PrivateEngine, whyNoPrivateEngine } from '../support/private-engine.ts'
import { startPrivateServer } from '../support/private-server.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { heardBy, publicUrls, speaking } from '../support/speaking.ts'
import { get, startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'

// The router serves the TCP and UDP ports of the machine, so they stay open when an engine dies.

const skip = (await whyNoPrivateEngine()) ?? false
let engine: PrivateEngine
let server: ServerProcess
let close: (() => Promise<void>) | undefined
let application: TestApplication

const saying = (version: string) => {
  const tree = web(version)
  return { ...tree, 'app.js': `${tree['app.js']}\n${speaking}` }
}

before(
  async () => {
    if (skip) return
    ;({ engine, server, close } = await startPrivateServer())
    const port = { publicly_accessible: true, protocol: 'TCP' }
    application = await makeWeb(server, {
      ports: [{ ...port, internal_port: 8080 }, { ...port, internal_port: 8081, protocol: 'UDP' }],
    }) // biome-ignore format: one row
    await application.run(saying('first'))
  },
  { timeout: 180_000 },
)
after(async () => {
  await application?.git.remove()
  await close?.()
})

test('ports of the machine stay open while the engine is killed and restarted, and during a deployment', {
  skip,
}, async (t) => {
  const { tcp, udp } = await publicUrls(server, application)
  const traffic = startTraffic(tcp, 50)
  t.after(() => traffic.stop())
  await traffic.sends(20)
  await engine.kill9()
  await traffic.sends(100)
  assert.equal(await heardBy(udp), 'heard hello')
  await engine.start()
  await traffic.sends(100)
  assert.equal(await heardBy(udp), 'heard hello')
  await application.reaches(['RUNNING'])
  await application.run(saying('second'))
  await traffic.sends(50)
  const { lost } = await traffic.stop()
  assert.deepEqual(lost, [])
  assert.deepEqual(await get(tcp), { status: 200, body: 'second' })
  assert.equal(await heardBy(udp), 'heard hello')
})
