import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { connect as connectSession } from 'node:http2'
import { connect as connectPlain } from 'node:net'
import test, { type TestContext } from 'node:test'
import { connect } from 'node:tls'
import { haproxy, missingHaproxy } from '../../test/support/haproxy.ts'
import { block, type Frame, flags, frame, preface, types } from '../../test/support/http2-frames.ts'
import { endAfter } from '../../test/support/http2-session.ts'
import { selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { monotonic, sleep } from '../clock.ts'
import { limits } from '../limits.ts'
import { beds, portOf, testBed } from '../test-bed.ts'

const skip = (await missingHaproxy()) ?? false
const host = 'outside.invalid'
const otherHost = 'other.invalid'
/** How much memory HAProxy may gain, of which one connection of HTTP/2 has at most 5 MB. */
const mostBytes = 32 * 1024 * 1024
const floodMs = 2_000
/** How often the test looks whether HAProxy has stopped reading for good. */
const lookMs = 200

const headersOf = (stream: number, fields: readonly (readonly [string, string])[] = []): Frame => ({
  type: types.headers,
  flags: flags.endStream | flags.endHeaders,
  stream,
  payload: block([[':method', 'GET'], [':scheme', 'https'], [':authority', host], [':path', '/never'], ...fields]),
})

interface Flooded {
  /** The most requests that were open at the application at the same time. */
  readonly mostOpen: number
  readonly bytesGrown: number
  readonly cpuSeconds: number
  /** The longest that another client waited for an answer. */
  readonly slowestMs: number
  readonly framesSent: number
}

/** Sends frames as fast as HAProxy reads them, while another client asks. `next` returns some. */
async function flood(t: TestContext, next: (round: number) => readonly Frame[], rules?: object): Promise<Flooded> {
  beds.haproxy = haproxy
  const bed = await testBed(t, { tlsPort: 0 })
  let [open, mostOpen, connections] = [0, 0, 0]
  const app = await bed.application((_, response) => {
    mostOpen = Math.max(mostOpen, ++open)
    response.once('close', () => open--)
  })
  app.on('connection', () => connections++)
  const other = await bed.application((_, response) => response.end('alive'))
  const route = (name: string, port: number) => {
    const endpoints = [{ address: '127.0.0.1', port }]
    return { host: name, service: name, name, endpoints, tls: { from: 'platform', redirects: true }, rules }
  }
  const routes = [route(host, portOf(app)), route(otherHost, portOf(other))]
  await bed.tell('PUT', '/routes', { version: 1, routes })
  const certificates = [host, otherHost].map((name) => ({ host: name, chain: selfSigned.cert, key: selfSigned.key }))
  await bed.tell('PUT', '/tls', { certificates, challenges: [], mark: 'one' })
  const port = bed.router.tlsPort ?? 0
  const pid = Number((await bed.tell('GET', '/health')).body['haproxyPid'])
  const before = await usageOf(pid)
  const attacker = await openRaw(t, port, '127.0.0.2')
  const client = connectSession(`https://127.0.0.1:${port}`, { servername: otherHost, rejectUnauthorized: false })
  endAfter(t, client)
  let [slowestMs, framesSent, isOver] = [0, 0, false]
  const asking = (async () => {
    while (!isOver) {
      const startedAt = monotonic()
      const stream = client.request({ ':authority': otherHost, ':path': '/' })
      const [headers] = await once(stream, 'response')
      assert.equal(headers[':status'], 200)
      stream.resume()
      await once(stream, 'close')
      slowestMs = Math.max(slowestMs, monotonic() - startedAt)
    }
  })()
  const happens = (event: string) => new Promise((resolve) => attacker.once(event, resolve))
  const end = monotonic() + floodMs
  for (let round = 0; monotonic() < end && !attacker.destroyed; round++) {
    const frames = next(round)
    framesSent += frames.length
    const isTaken = attacker.write(Buffer.concat(frames.map(frame)))
    if (isTaken) await new Promise((resolve) => setImmediate(resolve))
    // `once` of events would fail with the end of the attacker, which is allowed.
    else await Promise.race([happens('drain'), happens('close'), sleep(lookMs)])
  }
  isOver = true
  await asking
  const after = await usageOf(pid)
  const found = {
    mostOpen,
    bytesGrown: after.bytes - before.bytes,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    slowestMs,
    framesSent,
  }
  t.diagnostic(JSON.stringify({ ...found, connections, isClosed: attacker.destroyed }))
  attacker.destroy()
  await until('no request of the flood is open', () => open === 0)
  return found
}

async function openRaw(t: TestContext, port: number, localAddress: string) {
  const below = connectPlain({ host: '127.0.0.1', port, localAddress })
  const socket = connect({ socket: below, servername: host, ca: selfSigned.cert, ALPNProtocols: ['h2'] })
  t.after(async () => void socket.destroy())
  await once(socket, 'secureConnect')
  below.on('error', () => socket.destroy())
  socket.on('error', () => socket.destroy()).on('end', () => socket.destroy())
  socket.resume()
  socket.write(Buffer.concat([preface, frame({ type: types.settings })]))
  return socket
}

async function usageOf(pid: number): Promise<{ bytes: number; cpuSeconds: number }> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
  return { bytes: Number(fields[21]) * 4096, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 }
}

const cancelled = Buffer.from([0, 0, 0, 8])
const streamsFrom = (round: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => (round * count + index) * 2 + 1)

const floods: Readonly<Record<string, (round: number) => readonly Frame[]>> = {
  'streams that are reset at once': (round) =>
    streamsFrom(round, 50).flatMap((stream) => [headersOf(stream), { type: types.reset, stream, payload: cancelled }]),
  'streams that HAProxy must reset': (round) =>
    streamsFrom(round, 50).flatMap((stream) => [
      headersOf(stream),
      { type: types.window, stream, payload: Buffer.alloc(4) },
    ]),
  'more streams than announced': (round) => streamsFrom(round, 50).map((stream) => headersOf(stream)),
  'header blocks without an end': (round) =>
    round === 0
      ? [{ ...headersOf(1), flags: flags.endStream }]
      : Array.from({ length: 50 }, () => ({
          type: types.continuation,
          stream: 1,
          payload: block([['x-a', 'b'.repeat(100)]]),
        })),
}

for (const [what, next] of Object.entries(floods)) {
  for (const [whom, rules] of [
    ['HAProxy', undefined],
    ['the router', { sticky: true }],
  ] as const) {
    test(`a flood of ${what} is bounded, and others are answered by ${whom}`, { skip }, async (t) => {
      const { mostOpen, bytesGrown, slowestMs } = await flood(t, next, rules)
      assert.ok(mostOpen <= limits.streamsPerConnection * 2, `${mostOpen} open requests`)
      assert.ok(bytesGrown < mostBytes, `${bytesGrown} bytes`)
      assert.ok(slowestMs < 5_000, `${slowestMs} ms`)
    })
  }
}
