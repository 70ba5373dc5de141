import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { connect, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { run } from '../../server/lib/run.ts'
import { limitMemory, whyNoMemoryLimit } from '../support/memory-limit.ts'
import { get } from '../support/traffic.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'
import { startWebServer } from '../support/web-server.ts'

// The server has too few descriptors, too little memory, or was suspended. It rejects requests,
// loses nothing, and recovers without help.

const noMemoryLimit = (await whyNoMemoryLimit()) ?? false
const { server, application } = await startWebServer({ after }, web('first'))
const pid = server.pid()

const origin = (): string => server.apiUrl.replace('localhost', '127.0.0.1')

/** Returns whether a new connection succeeds within a second. */
async function answers(path: string): Promise<boolean> {
  const agent = new Agent({ keepAlive: false })
  const limit = new AbortController()
  const answered = get(`${origin()}${path}`, agent).then(
    ({ status }) => status === 200,
    () => false,
  )
  const isLate = clock.sleep(1000, limit.signal).then(
    () => false,
    () => false,
  )
  try {
    return await Promise.race([answered, isLate])
  } finally {
    limit.abort()
    agent.destroy()
  }
}

test('a server without descriptors keeps its services running and recovers once it has some', async () => {
  const { port } = new URL(server.apiUrl)
  const prlimit = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await run('prlimit', ['--pid', String(pid), ...args], { timeoutMs: 10_000 })
    assert.equal(exitCode, 0, String(stderr))
    return String(stdout).trim()
  }
  const usual = await prlimit('--nofile', '--output=SOFT', '--noheadings')
  const sockets: Socket[] = []
  try {
    // Only the soft limit, because a lowered hard limit cannot be raised again everywhere.
    await prlimit('--nofile=128:')
    for (let n = 0; n < 300; n++) sockets.push(connect(Number(port), '127.0.0.1').on('error', () => {}))
    await until('new connections are refused or hang', async () => !(await answers('/health/live')))
    assert.deepEqual(await application.answer(), { status: 200, body: 'first' })
  } finally {
    for (const socket of sockets) socket.destroy()
    await prlimit(`--nofile=${usual}:`)
  }
  await until('the server answers again', () => answers('/health/ready'))
  await application.run(web('after few descriptors'))
  assert.equal(server.pid(), pid, 'the process has restarted')
})

test('a server that was suspended for five seconds continues its work', async () => {
  await application.ship(web('after a standstill', { buildMs: 1000 }))
  await application.reaches(['BUILDING', 'DEPLOYING'])
  server.pause()
  const began = now()
  await until('five seconds have passed', () => now() - began > 5000)
  assert.deepEqual((await application.answer()).status, 200)
  server.resume()
  const { state, reason } = await application.settles()
  assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
  assert.deepEqual(await application.answer(), { status: 200, body: 'after a standstill' })
})

/** A client that sends most of a large body and then stops. */
interface Sender {
  readonly socket: Socket
  answer: string
  isSent: boolean
}

const mebi = 1024 * 1024
const announced = 256 * 1024
const sent = Buffer.alloc(announced - 1024, ' ')

function send(port: number): Sender {
  const socket = connect(port, '127.0.0.1')
  const sender: Sender = { socket, answer: '', isSent: false }
  socket.setEncoding('utf8').on('data', (text) => {
    sender.answer += text
  })
  // A client that is rejected before its body ends is done, too.
  socket
    .on('error', () => {})
    .on('close', () => {
      sender.isSent = true
    })
  const path = `/application/${application.id}/environmentVariable`
  const head =
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ` +
    `${announced}\r\n\r\n`
  socket.write(head)
  socket.write(sent, () => {
    sender.isSent = true
  })
  return sender
}

test('a server with little memory rejects what does not fit and loses no other request', {
  skip: noMemoryLimit,
}, async () => {
  const variables = `/application/${application.id}/environmentVariable`
  const write = (key: string, bytes: number) => server.api('POST', variables, { key, value: 'x'.repeat(bytes) })
  const served = await application.answer()
  assert.equal(served.status, 200)
  const port = Number(new URL(server.apiUrl).port)
  const limit = await limitMemory(server.pid(), 384 * mebi)
  const senders: Sender[] = []
  try {
    // The bodies are twice as large as the memory limit.
    for (let n = 0; n < 3000; n++) senders.push(send(port))
    await until('every body is sent or refused', () => senders.every(({ isSent }) => isSent))
    // The kernel may accept whole bodies before the server reads the first one.
    const refused = () => senders.filter(({ answer }) => answer.includes('Too many large request bodies'))
    await until('more than a hundred are refused', () => refused().length > 100)
    for (const { answer } of refused()) assert.match(answer, /^HTTP\/1\.1 503 [\s\S]*retry-after: 1/i)
    for (let n = 0; n < 20; n++) assert.equal((await write(`SMALL_${n}`, 100)).status, 201)
    // Clients without a token share a limit. A client with a token still has room.
    assert.equal((await write('LARGE', 20_000)).status, 201)
    assert.deepEqual(await application.answer(), served)
    assert.ok((await limit.peak()) < 384 * mebi, 'the server reached its memory limit')
  } finally {
    for (const { socket } of senders) socket.destroy()
    await limit.remove()
  }
  assert.equal((await write('LARGE_AFTERWARDS', 20_000)).status, 201)
  const { results } = await server.must<{ results: { key: string }[] }>('GET', variables)
  assert.equal(results.filter(({ key }) => /^(SMALL|LARGE)/.test(key)).length, 22)
  await application.run(web('after little memory'))
})
