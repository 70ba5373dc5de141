import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { systemClock as clock } from '../lib/clock.ts'
import { silentLogger as log } from '../lib/log.ts'
import { openLineStore, serviceLine, serviceStream } from '../logs/index.ts'
import { createOwnRouter } from '../routers/index.ts'
import { application, ask, routerHome } from '../routers/own/testing.ts'
import { createAccessLines } from './index.ts'

const { signal } = new AbortController()

test('a request through a router process is a line of its service', async (t) => {
  const home = await routerHome()
  const directory = await mkdtemp(join(tmpdir(), 'quayside-access-'))
  const lines = openLineStore({ directory, clock, log })
  const app = await application((_, response) => response.end('hello'))
  t.after(async () => {
    app.server.close().closeAllConnections()
    await lines.close()
    await home.close()
    await rm(directory, { recursive: true })
  })
  const router = createOwnRouter({ process: home.options })
  const route = { host: 'app.test', name: 'app', endpoints: [app.endpoint] }
  await router.replaceAll(
    [
      { ...route, service: 'open', rules: { accessLines: true } },
      { ...route, host: 'silent.test', service: 'silent' },
    ],
    signal,
  )
  const reconciler = createAccessLines({ router, name: 'docker', lines })
  await ask(home.process.port, 'silent.test')
  await ask(home.process.port, 'app.test')
  const stored = await until('the line is stored', async () => {
    await reconciler.reconcile(signal)
    const [line] = await lines.tail(serviceStream('open'), 10)
    return line
  })
  const { text, replica, container } = serviceLine(stored)
  assert.match(text, /^info GET \/ 200 \d+ ms \d+ B 127\.0\.0\.1$/)
  assert.deepEqual([replica, container], ['router', 'access'])
  assert.deepEqual(await lines.tail(serviceStream('silent'), 10), [])
})
