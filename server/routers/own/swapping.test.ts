import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { createInterface } from 'node:readline'
import test from 'node:test'
import type { RouteEndpoint } from '@quayside/contract/routes.ts'
import { until } from '../../../test/support/until.ts'
import { killGroup, start } from '../../lib/run.ts'
import { createOwnRouter } from './own-router.ts'
import { ask, routerHome } from './testing.ts'

const { signal } = new AbortController()
type Child = ReturnType<typeof start>

const program = `
  const server = require('node:http').createServer((_, response) => response.end(process.argv[1]))
  server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** An application in a separate process, so that it can be killed at any moment. */
async function applicationProcess(name: string): Promise<{ child: Child; endpoint: RouteEndpoint }> {
  const child = start(process.execPath, ['-e', program, name], {})
  assert.ok(child.stdout)
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, endpoint: { address: '127.0.0.1', port: Number(line) } }
  }
  throw new Error('the application did not start')
}

test('own router: no request fails when applications are killed right after they are replaced', async (t) => {
  const home = await routerHome()
  const children: Child[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  t.after(async () => {
    agent.destroy()
    for (const child of children) killGroup(child)
    await home.close()
  })
  const router = createOwnRouter({ process: home.options })
  const lead = (endpoint: RouteEndpoint): Promise<readonly number[]> =>
    router.replaceAll([{ host: 'app.test', service: 's', name: 'app', endpoints: [endpoint] }], signal)
  let current = await applicationProcess('0')
  children.push(current.child)
  await lead(current.endpoint)
  const seen = new Map<string, number>()
  const stopped = new AbortController()
  const client = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      const { status, body } = await ask(home.process.port, 'app.test', agent)
      assert.equal(status, 200)
      seen.set(body, (seen.get(body) ?? 0) + 1)
    }
  }
  const clients = Promise.all(Array.from({ length: 16 }, client))
  for (let swap = 1; swap <= 6; swap++) {
    await until(`application ${swap - 1} answers`, () => (seen.get(String(swap - 1)) ?? 0) >= 200)
    const next = await applicationProcess(String(swap))
    children.push(next.child)
    await lead(next.endpoint)
    killGroup(current.child)
    current = next
  }
  await until('the last application answers', () => (seen.get('6') ?? 0) >= 200)
  stopped.abort()
  await clients
  const total = [...seen.values()].reduce((sum, count) => sum + count, 0)
  t.diagnostic(`${total} requests over 6 swaps, 0 failed`)
  assert.equal(seen.size, 7)
})
