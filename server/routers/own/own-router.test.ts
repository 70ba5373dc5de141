import assert from 'node:assert/strict'
import { createSocket, type Socket } from 'node:dgram'
import { createServer, request as forward, type Server, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { silentLog } from '../../../router/log.ts'
import { StateFile } from '../../../router/state-file.ts'
import { askPort } from '../../../test/support/ask-port.ts'
import { haproxy, missingHaproxy } from '../../../test/support/haproxy.ts'
import { until } from '../../../test/support/until.ts'
import { AppError } from '../../lib/error.ts'
import { type RouterUnderTest, routerCases } from '../router.cases.ts'
import { askRouter } from './control.ts'
import { createOwnRouter } from './own-router.ts'
import { application, ask, routerHome } from './testing.ts'

const { signal } = new AbortController()

async function underTest(more: Parameters<typeof routerHome>[0] = {}): Promise<RouterUnderTest> {
  const home = await routerHome(more)
  const servers: Server[] = []
  const sockets: Socket[] = []
  const waiting: ServerResponse[] = []
  let holding = false
  return {
    router: createOwnRouter({ process: home.options }),
    application: async (name) => {
      const { server, endpoint } = await application((_, response) => {
        if (holding) waiting.push(response)
        else response.end(name)
      })
      servers.push(server)
      sockets.push(await datagrams(endpoint.port, name))
      return endpoint
    },
    ask: async (host) => {
      const { status, body } = await ask(home.process.port, host)
      return status === 200 ? body : undefined
    },
    askPort: ({ protocol, port }) => askPort({ protocol, host: '127.0.0.1', port }),
    open: async (host) => {
      holding = true
      const answer = ask(home.process.port, host)
      const before = waiting.length
      await until('the request is open', () => waiting.length > before)
      holding = false
      const response = waiting[before]
      return async () => {
        response?.end('')
        await answer
      }
    },
    close: async () => {
      for (const socket of sockets) socket.close()
      for (const server of servers) server.close().closeAllConnections()
      await home.close()
    },
  }
}

/** Answers every datagram at a port with a name. */
async function datagrams(port: number, name: string): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('message', (_, from) => socket.send(name, from.port, from.address))
  await new Promise<void>((resolve) => socket.bind(port, '127.0.0.1', resolve))
  return socket
}

routerCases('own router', () => underTest())

const withoutHaproxy = await missingHaproxy()
if (withoutHaproxy) test('own router behind HAProxy', { skip: withoutHaproxy })
else routerCases('own router behind HAProxy', () => underTest({ haproxy }))

test('own router: continues from the version of the process and keeps it for the same table', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const { controlSocket } = home.options
  const versionNow = async (): Promise<unknown> =>
    (await askRouter(controlSocket, { method: 'GET', path: '/health', timeoutMs: 5_000 })).body['version']
  const routes = [{ host: 'a.test', service: 's', name: 'a', endpoints: [] }]
  const body = { version: 41, routes }
  await askRouter(controlSocket, { method: 'PUT', path: '/routes', body, timeoutMs: 5_000 })
  const router = createOwnRouter({ process: home.options })
  await router.replaceAll([], signal)
  assert.equal(await versionNow(), 42)
  await router.replaceAll([], signal)
  assert.equal(await versionNow(), 42)
  const other = createOwnRouter({ process: home.options })
  await other.replaceAll(routes, signal)
  await router.replaceAll([], signal)
  assert.equal(await versionNow(), 44)
})

test('own router: a change is sent without the other routes of the table', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const bodies: string[] = []
  const { controlSocket: socketPath } = home.options
  const controlSocket = join(dirname(socketPath), 'watched.sock')
  const watched = createServer((request, response) => {
    const { method = '', url = '' } = request
    const answered = forward({ socketPath, method, path: url }, (answer) => {
      response.writeHead(answer.statusCode ?? 500)
      answer.pipe(response)
    })
    request.setEncoding('utf8').on('data', (text: string) => {
      bodies.push(`${method} ${text}`)
      answered.write(text)
    })
    request.on('end', () => answered.end())
  })
  await new Promise<void>((resolve) => watched.listen(controlSocket, resolve))
  t.after(() => watched.close())
  const router = createOwnRouter({ process: { ...home.options, controlSocket } })
  const route = (host: string, port: number) => ({
    host,
    service: 's',
    name: 'a',
    endpoints: [{ address: '::1', port }],
  })
  const routes = ['a.test', 'b.test', 'c.test'].map((host) => route(host, 80))
  await router.replaceAll(routes, signal)
  bodies.length = 0
  const put = [route('b.test', 81), route('d.test', 80)]
  await router.replaceAll([...put, route('a.test', 80)], signal)
  assert.deepEqual(bodies, [`PATCH ${JSON.stringify({ from: 1, version: 2, put, gone: ['c.test/'] })}`])
  const health = await askRouter(controlSocket, { method: 'GET', path: '/routes', timeoutMs: 5_000 })
  assert.deepEqual(health.body, { version: 2, routes: [route('a.test', 80), ...put] })
  bodies.length = 0
  const people = { 'o/VIEWER': { ada: 0, bob: 0 }, 'o/ADMIN': { eve: 0 } }
  const same = [...put, route('a.test', 80)]
  await router.replaceAll(same, signal, people)
  await router.replaceAll(same, signal, { 'o/VIEWER': { ada: 0 } })
  await router.replaceAll(same, signal, { 'o/VIEWER': { ada: 0 } })
  const changes = [people, { 'o/VIEWER': { ada: 0 }, 'o/ADMIN': null }]
  assert.deepEqual(bodies, [
    ...changes.map((one, at) => {
      const version = at + 2
      return `PATCH ${JSON.stringify({ from: version, version: version + 1, put: [], gone: [], people: one })}`
    }),
    `POST ${JSON.stringify({ version: 4 })}`,
  ])
  const kept = await new StateFile(home.options.stateFile, silentLog).load()
  assert.deepEqual([kept.version, kept.people], [4, { 'o/VIEWER': { ada: 0 } }])
})

test('own router: a table is sent again when the process has another one or does not know how to confirm', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const requests: string[] = []
  const controlSocket = join(dirname(home.options.controlSocket), 'watched.sock')
  let confirms = true
  const watched = createServer((request, response) => {
    const { method = '', url = '' } = request
    requests.push(`${method} ${url}`)
    if (url === '/confirm' && !confirms) return response.writeHead(404).end('{}')
    const { controlSocket: socketPath } = home.options
    return request.pipe(
      forward({ socketPath, method, path: url }, (answer) => {
        response.writeHead(answer.statusCode ?? 500)
        answer.pipe(response)
      }),
    )
  })
  await new Promise<void>((resolve) => watched.listen(controlSocket, resolve))
  t.after(() => watched.close())
  const router = createOwnRouter({ process: { ...home.options, controlSocket } })
  const routes = [{ host: 'a.test', service: 's', name: 'a', endpoints: [] }]
  const sent = async (): Promise<string> => {
    requests.length = 0
    await router.replaceAll(routes, signal)
    return requests.join()
  }
  assert.equal(await sent(), 'PUT /routes')
  assert.equal(await sent(), 'POST /confirm')
  confirms = false
  assert.equal(await sent(), 'POST /confirm,PUT /routes')
  confirms = true
  await createOwnRouter({ process: home.options }).replaceAll([], signal)
  assert.equal(await sent(), 'POST /confirm,PUT /routes,PUT /routes')
  assert.equal(await sent(), 'POST /confirm')
})

test('own router: reports that the process is unreachable or rejects the table', async (t) => {
  const home = await routerHome()
  t.after(() => home.close())
  const router = createOwnRouter({ process: home.options })
  const bad = [{ host: 'A.test:80', service: 's', name: 'a', endpoints: [] }]
  await assert.rejects(router.replaceAll(bad, signal), /the router answered 400: .*routes\[0\].host/)
  const nowhere = createOwnRouter({ process: { ...home.options, controlSocket: `${home.options.controlSocket}.not` } })
  const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable'
  await assert.rejects(nowhere.replaceAll([], signal), isUnavailable)
  await assert.rejects(nowhere.drained([], 10, signal), isUnavailable)
})
