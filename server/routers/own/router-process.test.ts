import assert from 'node:assert/strict'
import { readdir, stat, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../../test/support/free-port.ts'
import { selfSigned } from '../../../test/support/self-signed.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/error.ts'
import { start } from '../../lib/run.ts'
import { findRouter } from './find-router.ts'
import { createOwnRouter } from './own-router.ts'
import { ensureRouterProcess, type RouterProcessOptions } from './router-process.ts'
import { superviseRouter } from './supervise-router.ts'
import { application, ask, endProcess, isAlive, type RouterHome, routerHome } from './testing.ts'

const { signal } = new AbortController()

test('a running router process is adopted, and replaced when its address differs', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  assert.equal(home.process.adopted, false)
  const again = await ensureRouterProcess(home.options)
  assert.deepEqual(again, { pid: home.process.pid, port: home.process.port, adopted: true })
  const other = await ensureRouterProcess({ ...home.options, trusted: ['10.0.0.0/8'] })
  assert.equal(other.adopted, false)
  await until('the old process is gone', () => !isAlive(home.process.pid))
  const mapped = await ensureRouterProcess({ ...home.options, publicPorts: { port: 80, tlsPort: 443 } })
  assert.deepEqual([mapped.adopted, mapped.port], [false, other.port])
  const kept = await ensureRouterProcess({ ...home.options, publicPorts: { port: 80, tlsPort: 443 } })
  assert.deepEqual([kept.adopted, kept.pid], [true, mapped.pid])
  const behind = await ensureRouterProcess({ ...home.options, trusted: ['10.0.0.0/8'], proxies: ['192.0.2.0/24'] })
  assert.equal(behind.adopted, false)
  assert.equal((await ask(behind.port, 'unknown.test')).status, 404)
  assert.equal((await stat(home.options.controlSocket)).mode & 0o777, 0o600)
})

test('concurrent calls start one router process, and replace it once', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  await endProcess(home.process.pid)
  const atOnce = async (options: RouterProcessOptions) => {
    const pids: number[] = []
    const spawned = (pid: number): void => void pids.push(pid)
    const found = await Promise.all([1, 2, 3].map(() => ensureRouterProcess({ ...options, spawned })))
    assert.deepEqual([pids.length, new Set(found.map(({ pid }) => pid)).size], [1, 1])
    assert.deepEqual(
      found.map(({ adopted }) => adopted),
      [false, true, true],
    )
  }
  await atOnce(home.options)
  await atOnce({ ...home.options, trusted: ['10.0.0.0/8'] })
})

test('a killed router process restarts with its last table without the control plane', async (t) => {
  const home = await routerHome()
  const { server, endpoint } = await application((_, response) => response.end('ok'))
  t.after(async () => {
    server.close().closeAllConnections()
    await home.close()
  })
  const route = { host: 'app.test', service: 's', name: 'app', endpoints: [endpoint] }
  await createOwnRouter({ process: home.options }).replaceAll([route], signal)
  const started: unknown[] = []
  const warn = (...line: unknown[]) => started.push(line)
  const supervisor = superviseRouter(home.options, { warn })
  await supervisor.reconcile(signal)
  assert.deepEqual(started, [])
  await endProcess(home.process.pid)
  await assert.rejects(ask(home.process.port, 'app.test'))
  await supervisor.reconcile(signal)
  const { pid } = await ensureRouterProcess(home.options)
  assert.deepEqual(started, [[{ pid }, 'router had ended and was started again']])
  assert.equal((await ask(home.process.port, 'app.test')).body, 'ok')
})

test('a router process is started again when it is killed before it answers', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  await endProcess(home.process.pid)
  const pids: number[] = []
  const spawned = (pid: number): void => {
    pids.push(pid)
    if (pids.length < 3) process.kill(pid, 'SIGKILL')
  }
  const again = await ensureRouterProcess({ ...home.options, spawned })
  assert.equal(again.pid, pids[2])
  assert.equal(again.adopted, false)
})

test('an interrupted start leaves no router process that cannot be found and ended', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  await endProcess(home.process.pid)
  const stopping = new AbortController()
  const pids: number[] = []
  const spawned = (pid: number): void => {
    pids.push(pid)
    stopping.abort()
  }
  const interrupted = ensureRouterProcess({ ...home.options, spawned, signal: stopping.signal })
  await assert.rejects(interrupted, { name: 'AbortError' })
  assert.deepEqual([(await findRouter(home.options))?.pid], pids)
})

test('a router process is reported when it is killed repeatedly', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  await endProcess(home.process.pid)
  let starts = 0
  const spawned = (pid: number): void => {
    starts++
    process.kill(pid, 'SIGKILL')
  }
  await assert.rejects(ensureRouterProcess({ ...home.options, spawned }), { code: 'unavailable' })
  assert.equal(starts, 5)
})

test('a socket file is replaced when nothing listens on it', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  await endProcess(home.process.pid)
  await writeFile(home.options.controlSocket, '').catch(() => {})
  assert.equal((await ensureRouterProcess(home.options)).adopted, false)
})

test('the error names the port and its setting when another program uses the port', async (t) => {
  const home = await routerHome()
  const { server, endpoint } = await application(() => {})
  t.after(async () => {
    server.close()
    await home.close()
  })
  await endProcess(home.process.pid)
  const attempt = ensureRouterProcess({ ...home.options, port: endpoint.port })
  await assert.rejects(attempt, (error: unknown) => {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'unavailable')
    assert.match(error.message, new RegExp(`Port ${endpoint.port} on 127.0.0.1.*QUAYSIDE_ROUTER_PORT`))
    return true
  })
})

test('a replaced process lets its successor listen first: no request is refused and open ones complete', async (t) => {
  const home = await routerHome()
  let open: ServerResponse | undefined
  const { server, endpoint } = await application((request, response) => {
    if (request.headers.host !== 'slow.test') return void response.end('ok')
    response.write('begun, ')
    open = response
  })
  t.after(async () => {
    server.close().closeAllConnections()
    await home.close()
  })
  const route = (host: string) => ({ host, service: host, name: 'app', endpoints: [endpoint] })
  const table = [route('app.test'), route('slow.test')]
  await createOwnRouter({ process: home.options }).replaceAll(table, signal)
  const slow = ask(home.process.port, 'slow.test')
  await until('a request is open', () => open !== undefined)
  let isOver = false
  const asking = (async () => {
    const answers: string[] = []
    while (!isOver) answers.push((await ask(home.process.port, 'app.test')).body)
    return answers
  })()
  const successor = await ensureRouterProcess({ ...home.options, trusted: ['10.0.0.0/8'] })
  assert.deepEqual([successor.adopted, successor.port], [false, home.process.port])
  assert.notEqual(successor.pid, home.process.pid)
  assert.equal((await ask(successor.port, 'app.test')).body, 'ok')
  isOver = true
  assert.deepEqual([...new Set(await asking)], ['ok'])
  assert.ok(isAlive(home.process.pid), 'the previous process has a request open')
  open?.end('ended')
  assert.equal((await slow).body, 'begun, ended')
  await until('the previous process has ended', () => !isAlive(home.process.pid))
  const again = await ensureRouterProcess({ ...home.options, trusted: ['10.0.0.0/8'] })
  assert.deepEqual(again, { pid: successor.pid, port: successor.port, adopted: true })
})

test('a hand-over with certificates refuses no handshake, and no successor listens without them', async (t) => {
  const home = await routerHome()
  const port = await findFreePort()
  const host = 'outside.invalid'
  const { server, endpoint } = await application((_request, response) => response.end('ok'))
  t.after(async () => {
    server.close().closeAllConnections()
    await home.close()
  })
  const source = {
    mark: async () => 'one',
    material: async () => {
      await clock.sleep(300)
      return { certificates: [{ host, chain: selfSigned.cert, key: selfSigned.key }], challenges: [] }
    },
    states: async () => new Map(),
  }
  const options = { ...home.options, tls: { port, source } }
  const first = await ensureRouterProcess(options)
  assert.equal(first.tlsPort, port)
  const tls = { from: 'platform', redirects: true } as const
  await createOwnRouter({ process: options, certificates: source }).replaceAll(
    [{ host, service: host, name: 'app', endpoints: [endpoint], tls }],
    signal,
  )
  let isOver = false
  const asking = (async () => {
    const answers: string[] = []
    while (!isOver) answers.push(await askSecurely(port, host).catch(String))
    return answers
  })()
  for (const trusted of ['10.0.0.0/8', '10.1.0.0/16', '10.2.0.0/16']) {
    const successor = await ensureRouterProcess({ ...options, trusted: [trusted] })
    assert.equal(successor.adopted, false)
  }
  assert.equal(await askSecurely(port, host), 'ok')
  isOver = true
  const answers = await asking
  assert.deepEqual([...new Set(answers)], ['ok'])
  assert.ok(answers.length > 50, String(answers.length))
})

/** Asks over a connection of its own. Returns the body. */
function askSecurely(port: number, host: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const where = { host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, agent: false }
  const outgoing = request({ ...where, headers: { host } }, (answer) => void text(answer).then(resolve, reject))
  outgoing.on('error', reject).end()
  return promise
}

/** Does the first part of a hand-over, as if it were killed then. */
async function startBeside({ process: { port } }: RouterHome, options: RouterProcessOptions): Promise<{ pid: number }> {
  const controlSocket = join(dirname(options.controlSocket), 'next-cafe')
  const program = fileURLToPath(new URL('../../../router/main.ts', import.meta.url))
  const place = [
    '--host',
    options.host,
    '--port',
    String(port),
    '--control',
    controlSocket,
    '--state',
    options.stateFile,
  ]
  const more = ['--trusted', options.trusted?.join() ?? '', '--share']
  start(process.execPath, [program, ...place, ...more], { stdio: 'ignore' }).unref()
  let pid = 0
  await until('the successor listens', async () => {
    pid = (await findRouter({ controlSocket }))?.pid ?? 0
    return pid > 0
  })
  return { pid }
}

test('an interrupted hand-over continues, whether or not the previous process is alive', async (t) => {
  for (const isThere of [true, false]) {
    const home = await routerHome()
    t.after(() => home.close())
    const { controlSocket } = home.options
    const options = { ...home.options, trusted: ['10.0.0.0/8'] }
    const waiting = await startBeside(home, options)
    if (!isThere) await endProcess(home.process.pid)
    const taken = await ensureRouterProcess(options)
    assert.deepEqual(taken, { pid: waiting.pid, port: home.process.port, adopted: true })
    await until('the previous process has ended', () => !isAlive(home.process.pid))
    assert.equal((await findRouter({ controlSocket }))?.pid, waiting.pid)
    assert.deepEqual(await readdir(dirname(controlSocket)), ['router.sock'])
  }
})

test('an installation does not share the port of another one', async (t) => {
  const [home, other] = [await routerHome(), await routerHome()]
  t.after(() => Promise.all([home.close(), other.close()]))
  await endProcess(other.process.pid)
  const { port } = home.process
  await assert.rejects(ensureRouterProcess({ ...other.options, port }), /in use.*QUAYSIDE_ROUTER_PORT/)
})
