import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { connect as connectSecure } from 'node:tls'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { http2From } from '../../test/support/http2-client.ts'
import { secureClient } from '../../test/support/https.ts'
import { type LaneFailure, startLanes } from '../../test/support/lanes.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { monotonic } from '../clock.ts'
import { silentLog } from '../log.ts'
import { beds, portOf, type TestBed, testBed } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
const host = 'outside.invalid'
const material = { certificates: [{ host, chain: selfSigned.cert, key: selfSigned.key }], challenges: [], mark: 'one' }

const usualRules = { maxBodyBytes: 10_000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }
const read = (name: string, usual: number): number => Number(process.env[name] || usual)
const certificateCount = read('QUAYSIDE_TEST_CERTIFICATES', 10_000)
const kills = read('QUAYSIDE_TEST_KILLS', 5)

/** A program that becomes HAProxy once it may. */
interface Gate {
  readonly program: string
  open(): Promise<void>
}

/** Creates a program from a script for the shell, which gets the arguments of HAProxy. */
async function script(t: TestContext, text: (folder: string) => string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quayside-script-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'program')
  await writeFile(path, `#!/bin/sh\n${text(folder)}\n`, { mode: 0o700 })
  return path
}

async function gate(t: TestContext): Promise<Gate> {
  let mark = ''
  const program = await script(t, (folder) => {
    mark = join(folder, 'open')
    return `while [ ! -e ${mark} ]; do sleep 0.02; done\nexec ${haproxy} "$@"`
  })
  return { program, open: () => writeFile(mark, '') }
}

/** Whether a request over HTTP/2 crossed the end of its connection. Browsers send it again. */
const isUnread = ({ reason }: LaneFailure): boolean => reason === 'NGHTTP2_REFUSED_STREAM'

/** Returns whether a handshake for this host succeeds. */
const shake = (port: number, servername: string): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connectSecure({ host: '127.0.0.1', port, servername, rejectUnauthorized: false })
  socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

const isAccepted = (port: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect(port, '127.0.0.1')
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

const healthOf = async ({ tell }: TestBed) => (await tell('GET', '/health')).body
const serves = async (bed: TestBed): Promise<boolean> => (await healthOf(bed))['haproxyPid'] !== undefined

test('the router serves alone while HAProxy starts, and its connections end with their next response', {
  skip,
}, async (t) => {
  const { program, open } = await gate(t)
  beds.haproxy = program
  const bed = await testBed(t, { tlsPort: 0, mayStandAlone: true })
  const app = await bed.application((request, response) => response.end(`here ${request.headers['x-forwarded-proto']}`))
  app.on('upgrade', (_, socket: Socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    socket.on('data', (chunk) => socket.write(chunk)).on('error', () => {})
  })
  const tls = { from: 'platform', redirects: false } as const
  await bed.lead([portOf(app)], { host, tls })
  await bed.tell('PUT', '/tls', material)
  const { tlsPort = 0 } = bed.router
  const secure = secureClient({ port: tlsPort, root: selfSigned.cert })
  t.after(() => secure.close())
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  assert.equal((await secure.ask(host)).body, 'here https')
  const before = await bed.ask({ host, agent })
  assert.deepEqual([before.body, before.headers.connection], ['here http', 'keep-alive'])
  const session = await http2From(t, { host, port: tlsPort, localAddress: '127.0.0.1' })
  const gone = once(session, 'goaway')
  const chat = bed.raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
  assert.match(String((await once(chat, 'data'))[0]), /^HTTP\/1.1 101/)
  assert.ok(!(await serves(bed)))
  await open()
  await until('HAProxy serves', () => serves(bed))
  await gone
  const after = await bed.ask({ host, agent })
  assert.deepEqual([after.body, after.headers.connection], ['here http', 'close'])
  const requests = async () => JSON.parse(JSON.stringify((await healthOf(bed))['counts'])).requests
  const count = await requests()
  assert.equal((await bed.ask({ host, agent })).body, 'here http')
  assert.equal(await requests(), count, 'HAProxy carries it')
  chat.write('still here')
  assert.equal(String((await once(chat, 'data'))[0]), 'still here')
})

test('a certificate that comes while HAProxy starts is confirmed once HAProxy has it too', { skip }, async (t) => {
  const { program, open } = await gate(t)
  beds.haproxy = program
  const bed = await testBed(t, { tlsPort: 0, mayStandAlone: true })
  const { tlsPort = 0 } = bed.router
  await bed.tell('PUT', '/tls', material)
  const later = 'later.invalid'
  const certificates = [...material.certificates, { host: later, chain: selfSigned.cert, key: selfSigned.key }]
  let isOpen = false
  const confirmed = bed.tell('PUT', '/tls', { ...material, certificates, mark: 'two' }).then(() => isOpen)
  await until('the router has it', () => shake(tlsPort, later))
  for (let count = 0; count < 10; count++) assert.ok(await shake(tlsPort, later))
  isOpen = true
  await open()
  assert.ok(await confirmed, 'confirmed while HAProxy starts without it')
  for (let count = 0; count < 100; count++) assert.ok(await shake(tlsPort, later))
  assert.ok(await serves(bed))
})

for (const [why, text] of [
  ['ends at once', 'echo broken >&2; exit 3'],
  ['is missing', undefined],
] as const) {
  test(`the router serves alone and says why, if HAProxy ${why}`, { skip }, async (t) => {
    beds.haproxy = text === undefined ? '/nonexistent/haproxy' : await script(t, () => text)
    const errors: string[] = []
    const log = { ...silentLog, error: (message: string) => void errors.push(message) }
    const bed = await testBed(t, { tlsPort: 0, log, mayStandAlone: true })
    const app = await bed.application((_, response) => response.end('here'))
    await bed.lead([portOf(app)], { host, tls: { from: 'platform', redirects: false } })
    await bed.tell('PUT', '/tls', material)
    const secure = secureClient({ port: bed.router.tlsPort ?? 0, root: selfSigned.cert })
    t.after(() => secure.close())
    const failure = await until('the reason is known', async () => (await healthOf(bed))['haproxyFailure'])
    assert.match(String(failure), text === undefined ? /ENOENT/ : /broken/)
    await until('it was tried again', () => errors.length > 1)
    assert.ok(errors.every((one) => one === 'HAProxy did not start, and the router serves alone'))
    assert.equal((await secure.ask(host)).body, 'here')
    assert.equal((await bed.ask({ host })).body, 'here')
  })
}

test('clients are served from the start with ten thousand certificates, also while HAProxy takes over', {
  skip,
  timeout: 120_000,
}, async (t) => {
  beds.haproxy = haproxy
  const bed = await testBed(t, { tlsPort: 0, mayStandAlone: true })
  const app = await bed.application((_, response) => response.end('here'))
  const endpoints = [{ address: '127.0.0.1', port: portOf(app) }]
  const hosts = [...Array.from({ length: certificateCount - 1 }, (_, index) => `app-${index}.test`), host]
  const tls = { from: 'platform', redirects: false } as const
  const routes = hosts.map((one) => ({ host: one, service: one, name: 'shop', endpoints, tls, rules: usualRules }))
  await bed.tell('PUT', '/routes', { version: 1, routes })
  const certificates = hosts.map((one) => ({ host: one, chain: selfSigned.cert, key: selfSigned.key }))
  const startedAt = monotonic()
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const { port: plainPort, tlsPort = 0 } = bed.router
  assert.equal(await shake(tlsPort, host), true)
  t.diagnostic(`the last host answered ${(monotonic() - startedAt).toFixed(0)} ms after its certificate was sent`)
  const target = { host, plainPort, tlsPort, root: selfSigned.cert, lanes: 8, perLaneSecond: 20, patienceMs: 10_000 }
  const lanes = startLanes(target)
  t.after(() => lanes.close())
  let shaken = 0
  const failed: string[] = []
  for (let isServed = false, after = 0; after < 100; after += isServed ? 1 : 0, shaken++) {
    const one = hosts[(shaken * 7_919) % hosts.length] ?? host
    if (!(await shake(tlsPort, one))) failed.push(one)
    isServed ||= await serves(bed)
    if (isServed && after === 0) t.diagnostic(`HAProxy served after ${(monotonic() - startedAt).toFixed(0)} ms`)
  }
  const { sent, failures } = await lanes.end()
  t.diagnostic(`${sent} requests and ${shaken} hosts`)
  assert.deepEqual([failed, failures.filter((one) => !isUnread(one))], [[], []])
})

test('only requests that HAProxy had fail when it is killed', { skip, timeout: 120_000 }, async (t) => {
  beds.haproxy = haproxy
  const bed = await testBed(t, { tlsPort: 0 })
  const app = await bed.application((_, response) => response.end('here'))
  await bed.lead([portOf(app)], { host, tls: { from: 'platform', redirects: false }, rules: usualRules })
  await bed.tell('PUT', '/tls', material)
  const { port: plainPort, tlsPort = 0 } = bed.router
  const target = { host, plainPort, tlsPort, root: selfSigned.cert, lanes: 16, perLaneSecond: 20, patienceMs: 10_000 }
  const lanes = startLanes(target)
  t.after(() => lanes.close())
  const [refusedMs, killedAt]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < kills; turn++) {
    const pid = await until('HAProxy serves', async () => Number((await healthOf(bed))['haproxyPid']) || undefined)
    const { sent } = await lanes.look()
    await lanes.sends(sent + 100, 30_000)
    killedAt.push(Date.now())
    process.kill(pid, 'SIGKILL')
    const startedAt = monotonic()
    await until('a new connection is accepted', () => isAccepted(plainPort), { everyMs: 0 })
    await until('a handshake succeeds', () => shake(tlsPort, host), { everyMs: 0 })
    refusedMs.push(monotonic() - startedAt)
    await until('the router has noticed', async () => Number((await healthOf(bed))['haproxyPid']) !== pid)
  }
  const { sent, failures } = await lanes.end()
  t.diagnostic(`${kills} kills: a handshake succeeded after ${refusedMs.map((ms) => ms.toFixed(1)).join(', ')} ms`)
  const took = failures.map(({ tookMs }) => Math.round(tookMs)).toSorted((a, b) => a - b)
  t.diagnostic(`${sent} requests, ${failures.length} of them sent again, answered within ${took.at(-1)} ms`)
  // HAProxy takes over again later.
  const isNear = ({ from }: LaneFailure): boolean => killedAt.some((at) => from > at - 100 && from < at + 100)
  const isAnswered = ({ reason }: LaneFailure): boolean => /^[1-5]\d\d /.test(reason)
  assert.deepEqual(
    failures.filter((one) => one.isLost || isAnswered(one) || !(isNear(one) || isUnread(one))),
    [],
  )
})
