import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// A service falls asleep and the server is killed while the container ends. The next server has to
// wake the service.

let server: ServerProcess
let application: TestApplication

/**
 * Serves for a while after SIGTERM, answers `going` meanwhile, and then ends. The next server finds
 * it in that state.
 */
const reluctant = {
  ...web('awake'),
  'app.js': `
    let state = 'awake'
    require('node:http').createServer((request, response) => response.end(state)).listen(8080)
    process.on('SIGTERM', () => { state = 'going'; setTimeout(() => process.exit(0), 8000) })`,
}

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
    application = await makeWeb(server, settings)
    await application.run(reluctant)
  },
  { timeout: 120_000 },
)
after(async () => {
  await application?.git.remove()
  await server?.close()
})

interface Inspected {
  readonly Id: string
  readonly State: { readonly Running: boolean }
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> }
}
const containers = async (): Promise<Inspected[]> => {
  const found = await server.engine.containersWith(`quayside.service=${application.id}`)
  const all = await Promise.all(found.map(({ Id }) => server.engine.ask('GET', `/containers/${Id}/json`)))
  // The shape is that of Docker's published API.
  return all.filter((one) => one !== undefined) as Inspected[]
}
const isGoing = async (): Promise<boolean> => {
  const [one] = await containers()
  const address = Object.values(one?.NetworkSettings.Networks ?? {})[0]?.IPAddress
  if (!address) return false
  const answer = await fetch(`http://${address}:8080`).catch(() => undefined)
  return (await answer?.text()) === 'going'
}

test('a request wakes a service although the server was killed while its container ended', {
  timeout: 200_000,
}, async () => {
  await until('its container is ending', isGoing, { limitMs: 90_000 })
  await server.kill9()
  const answer = get(application.url)
  await server.restart()
  assert.deepEqual(await answer, { status: 200, body: 'awake' })
  assert.equal((await containers()).length, 1)
  for (let n = 0; n < 20; n++) assert.deepEqual(await get(application.url), { status: 200, body: 'awake' })
  const { state, reason } = await application.status()
  assert.deepEqual([state, reason], ['RUNNING', null])
})
