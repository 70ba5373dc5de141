import { Agent as PlainAgent, request as requestPlain } from 'node:http'
import { type ClientHttp2Session, connect } from 'node:http2'
import { Agent, request } from 'node:https'
import { text } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'
import { monotonic, sleep } from '../../router/clock.ts'
import type { LaneFailure, LanesSeen, LanesTarget, Wire } from './lanes.ts'

// Sends requests from a thread of its own, so that the work of a test does not delay them.

const target: LanesTarget = workerData
const { host, root: ca, plainPort, tlsPort } = target
const seen: LanesSeen = { sent: 0, versions: {}, failures: [] }
let isOver = false

type Ask = () => Promise<{ readonly status: number; readonly body: string }>

/** Every so many requests of a lane the connection is a new one. */
const perConnection = 100
const agents = {
  http: new PlainAgent({ keepAlive: true }),
  tls: new Agent({ keepAlive: true, ca }),
}

function askOne(wire: 'http' | 'tls', isNew: boolean): ReturnType<Ask> {
  const at = { host: '127.0.0.1', path: '/', headers: { host }, timeout: 20_000 }
  const agent = isNew ? false : agents[wire]
  return new Promise((resolve, reject) => {
    const outgoing =
      wire === 'http'
        ? requestPlain({ ...at, port: plainPort, agent })
        : request({ ...at, port: tlsPort, servername: host, ca, agent })
    outgoing.on('response', (answer) => {
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer within 20 s')))
    outgoing.on('error', reject).end()
  })
}

/** One connection of HTTP/2, which is opened again when it is closed. */
function http2Client(): { ask: Ask; renew(): void } {
  let session: ClientHttp2Session | undefined
  const open = (): ClientHttp2Session => {
    if (session && !session.closed && !session.destroyed) return session
    session = connect(`https://${host}:${tlsPort}`, { ca, host: '127.0.0.1', servername: host })
    // Its requests fail with it, and are counted.
    session.on('error', () => {})
    session.on('goaway', () => session?.close())
    return session
  }
  return {
    renew: () => session?.close(),
    ask: () =>
      new Promise((resolve, reject) => {
        const stream = open().request({ ':path': '/', ':authority': host })
        stream.setTimeout(20_000, () => stream.destroy(new Error('no answer within 20 s')))
        let status = 0
        stream.on('response', (headers) => {
          status = headers[':status'] ?? 0
        })
        stream.on('error', reject)
        text(stream).then((body) => resolve({ status, body }), reject)
        stream.end()
      }),
  }
}

/** Streams of HTTP/2 have one code for all errors, and the name of theirs in the message. */
const reasonOf = (error: unknown): string => {
  const { code = String(error), message = '' } = Object(error)
  return /NGHTTP2_\w+/.exec(message)?.[0] ?? String(code)
}

/** Asks until the answer is right. Returns why the first attempt failed, and the attempts. */
async function askUntilRight(wire: Wire, ask: Ask): Promise<LaneFailure | undefined> {
  const from = Date.now()
  const startedAt = monotonic()
  let first: { readonly reason: string; readonly failedAt: number } | undefined
  for (let attempts = 1; ; attempts++) {
    const reason = await ask().then(
      ({ status, body }) => {
        if (status !== 200) return `${status} ${body.slice(0, 100)}`
        seen.versions[body] = (seen.versions[body] ?? 0) + 1
        return undefined
      },
      (error: unknown) => reasonOf(error),
    )
    if (reason !== undefined) first ??= { reason, failedAt: Date.now() }
    const isLost = reason !== undefined && monotonic() - startedAt > target.patienceMs
    if (first !== undefined && (isLost || reason === undefined)) {
      return { wire, ...first, from, attempts, isLost, tookMs: monotonic() - startedAt }
    }
    if (reason === undefined) return undefined
    await sleep(20)
  }
}

async function lane(wire: Wire, ask: (isNew: boolean) => ReturnType<Ask>): Promise<void> {
  const everyMs = 1000 / target.perLaneSecond
  for (let due = monotonic(), count = 1; !isOver; due += everyMs, count++) {
    const wait = due - monotonic()
    // Without a wait, a late lane catches up, but never forgets the other lanes.
    await sleep(Math.max(wait, 0))
    if (wait < -1000) due = monotonic()
    if (isOver) return
    seen.sent++
    const failure = await askUntilRight(wire, () => ask(count % perConnection === 0))
    if (failure) seen.failures.push(failure)
  }
}

const lanes = Array.from({ length: target.lanes }, (_, index) => {
  const client = http2Client()
  const overHttp2 = (isNew: boolean) => {
    if (isNew) client.renew()
    return client.ask()
  }
  const wires = {
    http: () => lane('http', (isNew) => askOne('http', isNew)),
    tls: () => lane('tls', (isNew) => askOne('tls', isNew)),
  }
  return index % 4 === 0 ? lane('h2', overHttp2) : index % 4 === 1 ? wires.http() : wires.tls()
})

parentPort?.on('message', (message) => {
  if (message === 'end') isOver = true
  else parentPort?.postMessage(seen)
})
await Promise.all(lanes)
for (const agent of Object.values(agents)) agent.destroy()
parentPort?.postMessage(seen)
parentPort?.close()
