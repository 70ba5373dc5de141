import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmod, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { findFreePort } from '../../../test/support/free-port.ts'
import { haproxy, missingHaproxy } from '../../../test/support/haproxy.ts'
import { secureClient } from '../../../test/support/https.ts'
import { selfSigned } from '../../../test/support/self-signed.ts'
import { until } from '../../../test/support/until.ts'
import { findRouter } from './find-router.ts'
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
  const withHttp3 = { ...home.options, haproxy, http3: true }
  const other = await ensureRouterProcess(withHttp3)
  assert.notEqual(other.pid, behind.pid)
  assert.deepEqual(await ensureRouterProcess(withHttp3), { ...other, adopted: true })
  const alone = await ensureRouterProcess(home.options)
  assert.notEqual(alone.pid, other.pid)
  isRunning = false
  await asking
  assert.deepEqual(lost, [])
  t.diagnostic(`${answered} requests`)
})

test('own router: HAProxy serves hosts over TLS while a killed router has no certificates yet', { skip }, async (t) => {
  const [home, tlsPort] = [await routerHome(), await findFreePort()]
  t.after(() => home.close())
  const { server, endpoint } = await application((_, response) => response.end('here'))
  t.after(async () => void server.close().closeAllConnections())
  const host = 'outside.invalid'
  const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
  const source = {
    mark: async () => 'one',
    material: async () => ({ certificates, challenges: [] }),
    states: async () => new Map(),
  }
  const options = { ...home.options, haproxy, tls: { port: tlsPort, source } }
  const first = await ensureRouterProcess(options)
  const tls = { from: 'platform', redirects: true } as const
  // The second host has rules that only the router can apply.
  const ruled = { accessLines: true }
  const routes = [
    { host, service: 's', name: 'shop', endpoints: [endpoint], tls },
    { host: 'app.test', service: 'o', name: 'other', endpoints: [endpoint], rules: ruled },
  ]
  await createOwnRouter({ process: options, certificates: source }).replaceAll(routes, new AbortController().signal)
  const client = secureClient({ port: tlsPort, root: selfSigned.cert })
  t.after(() => client.close())
  const body = { method: 'POST', headers: { host, 'transfer-encoding': 'chunked' } }
  const statuses = async () => [
    (await client.ask(host)).status,
    // The router carries this one itself.
    (await client.ask(host, body)).status,
    (await ask(home.process.port, host)).status,
  ]
  assert.deepEqual(await statuses(), [200, 200, 308])
  await until('HAProxy serves', async () => typeof (await findRouter(options))?.haproxyPid === 'number')
  process.kill(first.pid, 'SIGKILL')
  const { promise: later, resolve: send } = Promise.withResolvers<string>()
  const silent = { ...options, tls: { port: tlsPort, source: { ...source, mark: () => later } } }
  const next = ensureRouterProcess(silent)
  const serves = async () => (await ask(home.process.port, 'app.test').catch(() => undefined))?.status === 200
  await until('another router serves', serves)
  assert.deepEqual(await statuses(), [200, 200, 308])
  // Its process must not write files while they are removed.
  send('one')
  await next
})

test('own router: does not start behind HAProxy beside another program that shares its port', { skip }, async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const other = createServer()
  t.after(async () => void other.close())
  other.listen({ host: '127.0.0.1', port: 0, reusePort: true })
  await once(other, 'listening')
  const bound = other.address()
  assert.ok(typeof bound === 'object' && bound)
  const controlSocket = join(dirname(home.options.controlSocket), 'other', 'router.sock')
  const options = { ...home.options, controlSocket, haproxy, port: bound.port }
  await assert.rejects(ensureRouterProcess(options), /Port \d+ on 127.0.0.1, .* is in use/)
})

/** Returns the processes that run with the configuration of a router's HAProxy. */
async function haproxiesOf(controlSocket: string): Promise<string[]> {
  const configuration = join(dirname(controlSocket), 'front', 'haproxy.cfg')
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      return text.includes(configuration) ? [pid] : []
    }),
  )
  return found.flat()
}

test('own router: an HAProxy whose router is killed while it starts never listens beside the next one', {
  skip,
}, async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const { server, endpoint } = await application((_, response) => response.end('here'))
  t.after(async () => void server.close().closeAllConnections())
  const route = { host: 'app.test', service: 's', name: 'shop', endpoints: [endpoint] }
  const { controlSocket } = home.options
  const [folder, mark] = [dirname(controlSocket), join(dirname(controlSocket), 'go')]
  const slow = join(folder, 'slow')
  // It still starts long after the router is gone.
  await writeFile(slow, `#!/bin/sh\nwhile [ ! -e ${mark} ]; do sleep 0.02; done\nexec ${haproxy} "$@"\n`)
  await chmod(slow, 0o700)
  const options = { ...home.options, haproxy: slow }
  const first = await ensureRouterProcess(options)
  await createOwnRouter({ process: options }).replaceAll([route], new AbortController().signal)
  const [starting] = await until('it starts', async () => {
    const found = await haproxiesOf(controlSocket)
    return found.length > 0 && found
  })
  process.kill(first.pid, 'SIGKILL')
  await until('nothing answers', () =>
    ask(home.process.port, 'app.test').then(
      () => false,
      () => true,
    ),
  )
  await ensureRouterProcess(options)
  assert.equal((await ask(home.process.port, 'app.test')).body, 'here')
  await until('the left one has ended', async () => !(await haproxiesOf(controlSocket)).includes(starting ?? ''))
  await writeFile(mark, '')
  await until('HAProxy serves', async () => typeof (await findRouter(options))?.haproxyPid === 'number')
  assert.deepEqual(await haproxiesOf(controlSocket), [String((await findRouter(options))?.haproxyPid)])
  assert.equal((await ask(home.process.port, 'app.test')).body, 'here')
})
