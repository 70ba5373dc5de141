import assert from 'node:assert/strict'
import test from 'node:test'
import { haproxy, missingHaproxy } from '../../../test/support/haproxy.ts'
import { createOwnRouter } from './own-router.ts'
import { ensureRouterProcess } from './router-process.ts'
import { application, ask, routerHome } from './testing.ts'

const skip = (await missingHaproxy()) ?? false

test('own router: HAProxy comes in front and leaves again without a lost request', { skip }, async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const { server, endpoint } = await application((_, response) => response.end('here'))
  t.after(async () => void server.close().closeAllConnections())
  const route = { host: 'app.test', service: 's', name: 'shop', endpoints: [endpoint] }
  await createOwnRouter({ process: home.options }).replaceAll([route], new AbortController().signal)
  let [isRunning, answered] = [true, 0]
  const lost: string[] = []
  const asking = (async () => {
    while (isRunning) {
      await ask(home.process.port, 'app.test').then(
        ({ status }) => (status === 200 ? answered++ : lost.push(String(status))),
        (error: unknown) => lost.push(String(error)),
      )
    }
  })()
  const behind = await ensureRouterProcess({ ...home.options, haproxy })
  assert.notEqual(behind.pid, home.process.pid)
  const again = await ensureRouterProcess({ ...home.options, haproxy })
  assert.deepEqual(again, { ...behind, adopted: true })
  const alone = await ensureRouterProcess(home.options)
  assert.notEqual(alone.pid, behind.pid)
  isRunning = false
  await asking
  assert.deepEqual(lost, [])
  t.diagnostic(`${answered} requests`)
})
