import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { createFakeBuilder } from '../builders/index.ts'
import { FakeEngine } from '../engines/index.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { createFakeRouter } from '../routers/index.ts'

/** Drivers in memory for each cluster that is connected. */
const fakeDrivers = () => ({
  engine: new FakeEngine({ clock }),
  builder: createFakeBuilder(),
  router: createFakeRouter(),
  isClosed: false,
  close() {
    this.isClosed = true
  },
})

test('a cluster that is connected while the server runs gets deployments, repairs and routes', async (t) => {
  const connected = new Map<string, ReturnType<typeof fakeDrivers>>()
  const platform = await createPlatform(t, {
    works: true,
    connect: ({ engine }) => {
      const drivers = fakeDrivers()
      connected.set(engine, drivers)
      return drivers
    },
  })
  const { a, call, database } = platform
  const { applicationId: id } = a.objects
  const deploy = async (change: string) => {
    await platform.addRepository(a, change)
    assert.equal((await call(a.tokens.ADMIN, 'POST', `/application/${id}/deploy`, {})).status, 202)
  }
  const isRunning = () =>
    until('the application is running', async () => {
      const { body } = await call(a.tokens.READ, 'GET', `/application/${id}/status`)
      return Object(body).state === 'RUNNING'
    })
  const engineName = `kubernetes-${a.clusterId}`
  await database`
    update cluster set engine = ${engineName}, sealed_kubeconfig = 'v1.b25l' where id = ${a.clusterId}`
  await until('the cluster is connected', () => connected.has(engineName))
  await deploy('one')
  await isRunning()
  const first = connected.get(engineName)
  assert.ok(first)
  const { signal } = new AbortController()
  const seen = await first.engine.observe(id, signal)
  assert.equal((await platform.engine.observe(id, signal)).state, 'absent')
  const reached = () => first.router.routes.filter(({ service, endpoints }) => service === id && endpoints.length > 0)
  assert.ok(reached().length > 0)
  const isForgotten = () => platform.router.routes.every(({ service }) => service !== id)
  await until('the first router forgets its routes', isForgotten)

  assert.ok(seen.state === 'running')
  for (const { name } of seen.replicas) first.engine.drop(name)
  await until('the replica is back', async () => (await first.engine.observe(id, signal)).state === 'running')

  await database`update cluster set sealed_kubeconfig = 'v1.dHdv' where id = ${a.clusterId}`
  await until('the cluster is connected again', () => connected.get(engineName) !== first)
  assert.ok(first.isClosed)
  await deploy('two')
  const second = connected.get(engineName)
  await until('the next version is on the new drivers', async () => {
    return (await second?.engine.observe(id, signal))?.state === 'running'
  })
})
