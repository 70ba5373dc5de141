import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { findFreePort } from '../support/free-port.ts'
import type { Tree } from '../support/git-remote.ts'
import { type TextsClient, textsClient } from '../support/grpc.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// An application that speaks gRPC, from a git repository to calls over HTTPS.

/** The service of `textsClient`, without a library: Node.js frames the messages of gRPC itself. */
const texts = (name: string): Tree => ({
  Dockerfile: 'FROM quayside/node:24\nWORKDIR /app\nCOPY . ./\nCMD ["node", "app.js"]\n',
  'app.js': `
    const frame = (text) => {
      const bytes = Buffer.from(text)
      const head = Buffer.alloc(5)
      head.writeUInt32BE(bytes.length, 1)
      return Buffer.concat([head, bytes])
    }
    const answers = {
      Unary: (call) => ({ text: ([one]) => call.end(frame('${name} ' + one)) }),
      Collect: (call) => ({ text: (all) => call.end(frame(all.join())) }),
      Repeat: (call) => ({ text: ([count]) => {
        for (let index = 0; index < Number(count); index++) call.write(frame(String(index)))
        call.end()
      } }),
      Converse: (call) => ({ each: (text) => call.write(frame(text.toUpperCase())), text: () => call.end() }),
    }
    const server = require('node:http2').createServer()
    server.on('stream', (call, headers) => {
      const answer = answers[headers[':path'].split('/')[2]](call)
      call.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
      call.on('wantTrailers', () => call.sendTrailers({ 'grpc-status': '0' }))
      call.on('error', () => {})
      const all = []
      let rest = Buffer.alloc(0)
      call.on('data', (chunk) => {
        rest = Buffer.concat([rest, chunk])
        while (rest.length >= 5 && rest.length >= 5 + rest.readUInt32BE(1)) {
          const end = 5 + rest.readUInt32BE(1)
          const text = rest.subarray(5, end).toString()
          rest = rest.subarray(end)
          all.push(text)
          answer.each?.(text)
        }
      })
      call.on('end', () => answer.text(all))
    })
    server.listen(8080)
    process.on('SIGTERM', () => process.exit(0))`,
})

const tlsPort = await findFreePort()
const env = { QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort), QUAYSIDE_ACME_DIRECTORY: 'local' }
const ports = [{ name: 'texts', internal_port: 8080, publicly_accessible: true, protocol: 'GRPC' }]
let server: ServerProcess
let application: TestApplication
let client: TextsClient

before(
  async () => {
    server = await startServer({ env })
    const environmentId = await makeEnvironment(server, 'calls')
    application = await makeApplication(server, { environmentId, name: 'texts', settings: { ports } })
    await application.run(texts('one'))
    const root = await readFile(join(server.dataDirectory, 'authority.pem'), 'utf8')
    const { results } = await server.must<{ results: { url: string }[] }>('GET', `/application/${application.id}/link`)
    const host = new URL(results[0]?.url ?? '').hostname
    client = textsClient({ port: tlsPort, host, root })
  },
  { timeout: 180_000 },
)
after(async () => {
  client?.close()
  await application?.git.remove()
  await server?.close()
})

test('all four kinds of calls reach a deployed application over HTTPS', { timeout: 60_000 }, async () => {
  const isAnswered = () =>
    client.unary('hello').then(
      (text) => text === 'one hello',
      () => false,
    )
  await until('the certificate is there', isAnswered)
  assert.equal(await client.collect(['a', 'b', 'c']), 'a,b,c')
  assert.deepEqual(
    await client.repeat('100'),
    Array.from({ length: 100 }, (_, index) => `${index}`),
  )
  assert.deepEqual(await client.converse(['a', 'b', 'c']), ['A', 'B', 'C'])
})

test('no call is lost while a new version is deployed', { timeout: 180_000 }, async () => {
  let [running, calls] = [true, 0]
  const names = new Set<string>()
  const call = async (): Promise<void> => {
    while (running) {
      names.add((await client.unary('x')).split(' ')[0] ?? '')
      assert.deepEqual(await client.converse(['a', 'b']), ['A', 'B'])
      calls++
    }
  }
  const callers = Promise.all([call(), call(), call()])
  await application.run(texts('two'))
  const seen = calls
  await until('calls of the new version have ended', () => calls > seen + 20)
  running = false
  await callers
  assert.deepEqual([...names], ['one', 'two'])
})

test('calls of a stopped application are unavailable, with the reason', { timeout: 60_000 }, async () => {
  await server.must('POST', `/application/${application.id}/stop`)
  await application.reaches(['STOPPED'])
  await assert.rejects(client.unary('x'), { code: status.UNAVAILABLE, details: /is not available: it is stopped/ })
})
