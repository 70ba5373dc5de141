import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, test } from 'node:test'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { assertDeployedOnce, lastRequest } from '../support/deployment-facts.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { now, until } from '../support/until.ts'

// A server is stopped while it is busy. It finishes or hands over its work, and clients get an
// answer.

const builds = 4
const requests = 50
const streams = 500
let server: ServerProcess
let applications: TestApplication[] = []

before(async () => {
  server = await startServer({
    env: {
      QUAYSIDE_PARALLEL_BUILDS: String(builds),
      QUAYSIDE_STREAMS_PER_CALLER: String(streams),
      QUAYSIDE_STREAMS_PER_ORGANIZATION: String(streams),
    },
  })
  const make = async (_: unknown, n: number) =>
    makeApplication(server, { environmentId: await makeEnvironment(server, `stop-${n}`), name: `web-${n}` })
  applications = await Promise.all(Array.from({ length: builds }, make))
})
after(async () => {
  for (const { git } of applications) await git.remove()
  await server?.close()
})

interface Client {
  readonly socket: Socket
  text: string
  isOver: boolean
}
function say(text: string): Client {
  const socket = connect(Number(new URL(server.apiUrl).port), '127.0.0.1', () => socket.write(text))
  const client: Client = { socket, text: '', isOver: false }
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      client.text += chunk
    })
  socket.once('close', () => {
    client.isOver = true
  })
  return client
}
const head = (line: string): string => `${line} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Token ${server.token}\r\n`

test('a server that is stopped while it is busy ends in order within half a minute and loses nothing', async () => {
  await Promise.all(applications.map((one, n) => one.ship(web(`handed over ${n}`, { buildMs: 5000 }))))
  await Promise.all(applications.map((one) => one.reaches(['BUILDING'])))
  const asked = await Promise.all(applications.map((one) => lastRequest(server, one)))
  const followers = Array.from({ length: streams }, () =>
    say(`${head(`GET /organization/${server.organizationId}/stream`)}\r\n`),
  )
  await until('all follow', () => followers.every(({ text }) => text.includes('event: ready')), { limitMs: 60_000 })
  // Sends the head of a write, and the body only after the server was told to stop. Some clients
  // never send it.
  const path = `/application/${applications[0]?.id}/environmentVariable`
  const writers = Array.from({ length: requests }, (_, n) => {
    const body = JSON.stringify({ key: `OPEN_${n}`, value: 'text' })
    const lines = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    return { body, key: `OPEN_${n}`, client: say(`${head(`POST ${path}`)}${lines}`) }
  })
  await until('all connections are open', () => writers.every(({ client }) => client.text.startsWith('HTTP/1.1 100')))

  const began = now()
  const ended = server.stop()
  const finishing = writers.slice(0, requests - 10)
  for (const { body, client } of finishing) client.socket.write(body)
  await until('all complete writes are answered', () =>
    finishing.every(({ client }) => /HTTP\/1\.1 [2-5]\d\d /.test(client.text)),
  )
  assert.deepEqual(await ended, { code: 0, signal: null })
  assert.ok(now() - began < 30_000, `took ${now() - began} ms`)
  await until('all streams are over', () => followers.every(({ isOver }) => isOver))
  for (const { text } of followers) assert.match(text, /^retry: \d+$/m)

  await server.restart()
  const { results } = await server.must<{ results: { key: string }[] }>('GET', path)
  const stored = new Set(results.map(({ key }) => key))
  for (const { client, key } of writers)
    assert.equal(stored.has(key), client.text.includes('HTTP/1.1 201'), client.text)
  assert.ok(finishing.every(({ key }) => stored.has(key)))
  for (const [n, application] of applications.entries()) {
    await assertDeployedOnce(server, application, { version: `handed over ${n}`, request: asked[n] ?? '' })
    const [entry] = await application.history()
    assert.deepEqual([entry?.status, entry?.reason], ['DEPLOYED', null])
  }
})
