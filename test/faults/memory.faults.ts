import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { get, startTraffic } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// Programs need more memory than their limit, before or after they receive traffic.

const { server, application } = await startWebServer({ after }, web('first'))

const grow = 'const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1))'

test('a version that runs out of memory fails with its limit and last lines, and the previous one serves', async (t) => {
  const traffic = startTraffic(application.url, 20)
  t.after(() => traffic.stop())
  const greedy = `console.log('loading the catalogue'); setTimeout(() => { ${grow} }, 300)`
  await application.ship({ ...web('greedy'), 'app.js': greedy })
  const { state, reason } = await application.settles()
  assert.equal(state, 'ERROR')
  assert.match(
    reason ?? '',
    /ran out of memory \(64 MiB\); give it more memory or make it use less\nloading the catalogue/,
  )
  const [entry] = await application.history()
  assert.deepEqual([entry?.status, entry?.reason], ['DEPLOYMENT_ERROR', reason])
  const { lost, bodies } = await traffic.stop()
  assert.deepEqual([lost, [...bodies.keys()]], [[], ['first']])
  assert.equal((await server.engine.containersWith(`quayside.service=${application.id}`)).length, 1)
})

test('a version that later runs out of memory repeatedly is reported as failing until it is stable', {
  timeout: 300_000,
}, async () => {
  // Files in a container survive its restart.
  const source = `
    const { existsSync, readFileSync, writeFileSync } = require('node:fs')
    const file = '/tmp/deaths'
    const deaths = existsSync(file) ? Number(readFileSync(file)) : 0
    const die = () => { writeFileSync(file, String(deaths + 1)); console.log('sorting everything'); ${grow} }
    require('node:http').createServer((request, response) => {
      if (request.url === '/die') setImmediate(die)
      response.end('second')
    }).listen(8080)
    if (deaths > 0 && deaths < 6) setTimeout(die, 1500)
    process.on('SIGTERM', () => process.exit(0))`
  await application.run({ ...web('second'), 'app.js': source })
  const url = `${application.url}/die`
  await get(url).catch(() => {})
  const failing = await application.reaches(['ERROR'])
  // The observer starts a replica that it sees between two restarts of the engine.
  const deaths = /^(?:ran out of memory \(64 MiB\), exited \d+ times|replica 1 ran out of memory \(64 MiB\);.*)$/
  const [first = '', ...lines] = (failing.reason ?? '').split('\n')
  assert.match(first, deaths)
  assert.match(lines.join('\n'), /sorting everything/)
  const seen = new Set<string>()
  await until(
    'it holds',
    async () => {
      const { state, reason } = await application.status()
      if (state === 'ERROR') seen.add((reason ?? '').split('\n')[0] ?? '')
      return state === 'RUNNING'
    },
    { limitMs: 200_000, everyMs: 250 },
  )
  for (const reason of seen) assert.match(reason, deaths)
  assert.ok([...seen].some((reason) => reason.startsWith('ran out of memory')))
  const [container] = await server.engine.containersWith(`quayside.service=${application.id}`)
  const { State } = Object(await server.engine.ask('GET', `/containers/${container?.Id}/json`))
  const heldMs = Date.now() - Date.parse(State.StartedAt)
  assert.ok(heldMs > 50_000, `the application is reported as RUNNING ${heldMs} ms after its last start`)
  assert.equal((await application.status()).reason, null)
  const told = server.output.filter((line) => line.includes('a service fails repeatedly'))
  assert.ok(told.length >= 1 && told.length <= 4, `told ${told.length} times`)
})
