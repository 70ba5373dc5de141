import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { status } from '@grpc/grpc-js'
import { makeApplication, makeEnvironment, type TestApplication } from '../support/application.ts'
import { findFreePort } from '../support/free-port.ts'
import { type TextsClient, textsClient } from '../support/grpc.ts'
import { texts } from '../support/grpc-tree.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { until } from '../support/until.ts'

// An application that speaks gRPC, from a git repository to calls over HTTPS.

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
