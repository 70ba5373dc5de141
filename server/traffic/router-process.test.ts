import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { testDatabase } from '../database/testing.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { allClusters, createOwnRouter, ensureRouterProcess } from '../routers/index.ts'
import { application, ask, endProcess, routerHome } from '../routers/own/testing.ts'
import { addPlace } from '../variables/testing.ts'
import { createTrafficCollector, createTrafficReader } from './index.ts'

const { signal } = new AbortController()

/** A router process with one application, and the server's half that stores its numbers. */
async function bed(t: TestContext) {
  const home = await routerHome()
  const { sql } = await testDatabase(t)
  const service = (await addPlace(sql)).service.serviceId
  const app = await application((_, response) => response.end('hello'))
  // A kept connection may end just when a request is sent over it.
  const agent = new Agent({ keepAlive: false })
  t.after(async () => {
    agent.destroy()
    app.server.close().closeAllConnections()
    await home.close()
  })
  const router = createOwnRouter({ process: home.options })
  const lead = () => router.replaceAll([{ host: 'app.test', service, name: 'app', endpoints: [app.endpoint] }], signal)
  await lead()
  const reader = createTrafficReader({ database: sql, clock })
  const scope = { database: sql, clock, router, name: 'docker', scope: allClusters }
  const collector = createTrafficCollector(scope)
  const counted = async (): Promise<number> => {
    await collector.reconcile(signal)
    return (await reader.ofService(service)).total.requests
  }
  const request = async (times: number): Promise<void> => {
    for (let done = 0; done < times; done++) {
      assert.equal((await ask(home.process.port, 'app.test', agent)).status, 200)
    }
  }
  return { home, scope, counted, request, lead }
}

test('requests through a router process are counted in the database', async (t) => {
  const { counted, request } = await bed(t)
  await request(20)
  assert.equal(await counted(), 20)
  await request(5)
  assert.equal(await counted(), 25)
  assert.equal(await counted(), 25)
})

test('each request is counted once while a router hands over to its successor', async (t) => {
  const { home, counted, request, lead } = await bed(t)
  let asked = 0
  const stopped = new AbortController()
  const clients = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!stopped.signal.aborted) {
        await request(1)
        asked++
      }
    }),
  )
  for (const trusted of ['10.0.0.0/8', '10.1.0.0/16', '10.2.0.0/16']) {
    const before = asked
    await until('requests were answered', () => asked > before + 50)
    await counted()
    await ensureRouterProcess({ ...home.options, trusted: [trusted] })
    await lead()
  }
  stopped.abort()
  await clients
  await until('the previous routers have handed their numbers over', async () => (await counted()) === asked)
  t.diagnostic(`${asked} requests over 3 hand-overs`)
})

test('a killed router loses the requests since the last look, and its successor counts on', async (t) => {
  const { home, scope, counted, request, lead } = await bed(t)
  await request(10)
  assert.equal(await counted(), 10)
  await request(3)
  await endProcess(home.process.pid)
  await ensureRouterProcess(home.options)
  await lead()
  await request(4)
  assert.equal(await counted(), 14)
  // Another server does not know what this one has stored.
  await createTrafficCollector(scope).reconcile(signal)
  assert.equal(await counted(), 14)
})
