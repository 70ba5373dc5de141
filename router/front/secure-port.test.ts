import assert from 'node:assert/strict'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { startLanes } from '../../test/support/lanes.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { silentLog } from '../log.ts'
import { startRouter } from '../router.ts'
import { beds, portOf, type TestBed, testBed } from '../test-bed.ts'
import { frontFiles } from './front-files.ts'
import { SecurePort } from './secure-port.ts'
import { mostTakenMs } from './taken-time.ts'

beds.haproxy = haproxy
const skip = (await missingHaproxy()) ?? false
const host = 'outside.invalid'
const certificates = [{ host, chain: selfSigned.cert, key: selfSigned.key }]
const question = { kind: 'tls-alpn-01', host, token: 'abc', answer: selfSigned.cert + selfSigned.key }

const materialOf = (isAsked: boolean) => ({
  certificates,
  challenges: isAsked ? [question] : [],
  mark: String(isAsked),
})

/** Returns the protocol of a handshake. Undefined if it fails. */
const shake = (port: number, ...ALPNProtocols: string[]): Promise<string | false | null | undefined> => {
  const { promise, resolve } = Promise.withResolvers<string | false | null | undefined>()
  const socket = connect({ host: '127.0.0.1', port, servername: host, rejectUnauthorized: false, ALPNProtocols })
  socket.once('secureConnect', () => resolve(socket.alpnProtocol)).once('error', () => resolve(undefined))
  return promise.finally(() => socket.destroy())
}
/** HAProxy agrees on no protocol with an authority, and the router refuses its handshake. */
const isHaproxy = async (port: number): Promise<boolean> => (await shake(port, 'acme-tls/1')) === false
const isProven = async (port: number): Promise<boolean> => (await shake(port, 'acme-tls/1')) === 'acme-tls/1'

interface Bed {
  readonly bed: TestBed
  readonly tlsPort: number
  /** Begins or ends a challenge of the host. */
  pose(isAsked: boolean): Promise<void>
  pid(): Promise<number>
}

async function secureBed(t: TestContext): Promise<Bed> {
  const bed = await testBed(t, { tlsPort: 0 })
  const app = await bed.application((_, response) => response.end('here'))
  const rules = { maxBodyBytes: 10_000, readTimeoutMs: 60_000, sendTimeoutMs: 60_000, clientTimeoutMs: 60_000 }
  await bed.lead([portOf(app)], { host, tls: { from: 'platform', redirects: false }, rules })
  const pose = async (isAsked: boolean): Promise<void> => {
    assert.equal((await bed.tell('PUT', '/tls', materialOf(isAsked))).status, 200)
  }
  await pose(false)
  const pid = async (): Promise<number> => Number((await bed.tell('GET', '/health')).body['haproxyPid'])
  return { bed, tlsPort: bed.router.tlsPort ?? 0, pose, pid }
}

test('challenges that begin and end again and again lose no request', { skip, timeout: 60_000 }, async (t) => {
  const { bed, tlsPort, pose, pid } = await secureBed(t)
  const target = { host, plainPort: bed.router.port, tlsPort, root: selfSigned.cert }
  const lanes = startLanes({ ...target, lanes: 16, perLaneSecond: 20, patienceMs: 10_000 })
  t.after(() => lanes.close())
  await lanes.sends(100, 30_000)
  const before = await pid()
  for (let turn = 0; turn < 10; turn++) {
    await pose(true)
    for (let count = 0; count < 10; count++) assert.ok(await isProven(tlsPort))
    await pose(false)
    for (let count = 0; count < 10; count++) assert.ok(await isHaproxy(tlsPort))
  }
  const { sent, failures } = await lanes.end()
  t.diagnostic(`${sent} requests, ${failures.length} of them sent again`)
  // Browsers send a request again that crosses the end of its connection over HTTP/2.
  const isUnread = (reason: string): boolean => reason === 'NGHTTP2_REFUSED_STREAM'
  assert.deepEqual(
    failures.filter(({ reason, isLost }) => isLost || !isUnread(reason)),
    [],
  )
  assert.equal(await pid(), before)
})

test('a challenge is answered while another HAProxy starts, and after it has', { skip }, async (t) => {
  const { tlsPort, pose, pid } = await secureBed(t)
  await pose(true)
  const before = await pid()
  process.kill(before, 'SIGKILL')
  await until('the router has noticed', async () => (await pid()) !== before)
  assert.ok(await isProven(tlsPort))
  await until('another one serves', async () => (await pid()) > 1)
  for (let count = 0; count < 20; count++) assert.ok(await isProven(tlsPort))
  await pose(false)
  for (let count = 0; count < 20; count++) assert.ok(await isHaproxy(tlsPort))
})

test('the next router returns the port to the HAProxy that it adopts', { skip }, async (t) => {
  const { bed, tlsPort, pose } = await secureBed(t)
  await pose(true)
  const control = join(dirname(bed.control), 'next.sock')
  const config = { host: '127.0.0.1', port: bed.router.port, tlsPort, control, state: bed.state, trusted: [], haproxy }
  const next = await startRouter({ ...config, share: true }, silentLog)
  t.after(() => next.stop(0))
  assert.ok(await isProven(tlsPort))
  const isTold = await certify(control, JSON.stringify(materialOf(false)))
  assert.equal(isTold, 200)
  await bed.router.stop(1_000)
  for (let count = 0; count < 20; count++) assert.ok(await isHaproxy(tlsPort))
  // The folder of both is removed after the test.
  await next.stop(0)
})

test('a challenge that never ends leaves the port to HAProxy after a minute', { skip }, async (t) => {
  const { bed, tlsPort } = await secureBed(t)
  let now = 0
  const warnings: string[] = []
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) }
  const { admin } = frontFiles(bed.control)
  const standIn = { openSecure: async () => {} }
  const port = new SecurePort({ admin, log, isAsked: () => true, standIn, now: () => now })
  await port.follow()
  assert.equal(await shake(tlsPort), undefined)
  now += mostTakenMs
  await port.follow()
  assert.ok(!port.isTaken && (await isHaproxy(tlsPort)))
  now += 1_000
  await port.follow()
  assert.ok(!port.isTaken && (await isHaproxy(tlsPort)))
  assert.equal(warnings.length, 1)
  now += mostTakenMs
  await port.follow()
  assert.ok(port.isTaken)
})

/** Sends certificates to the control socket of a router. Returns the status of its answer. */
function certify(socketPath: string, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const outgoing = request({ socketPath, method: 'PUT', path: '/tls' }, (answer) => {
    answer.resume()
    resolve(answer.statusCode ?? 0)
  })
  outgoing.on('error', reject).end(body)
  return promise
}
