import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { findFreePort } from '../../../test/support/free-port.ts'
import { textsClient, textsService } from '../../../test/support/grpc.ts'
import { haproxy, missingHaproxy } from '../../../test/support/haproxy.ts'
import { selfSigned } from '../../../test/support/self-signed.ts'
import { until } from '../../../test/support/until.ts'
import { createOwnRouter } from './own-router.ts'
import { ensureRouterProcess } from './router-process.ts'
import { routerHome } from './testing.ts'

const { signal } = new AbortController()
const host = 'outside.invalid'

/** Starts a gRPC server that answers calls with their text. Returns its port. */
async function startTexts(after: (work: () => void) => void): Promise<number> {
  const server = new Server()
  const { unary, converse } = textsService
  server.addService(
    { unary, converse },
    {
      unary: ({ request }: { request: string }, done: (error: null, answer: string) => void) => done(null, request),
      converse: (call: NodeJS.ReadWriteStream) => void call.pipe(call),
    },
  )
  after(() => server.forceShutdown())
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const security = ServerCredentials.createInsecure()
  server.bindAsync('127.0.0.1:0', security, (error, port) => (error ? reject(error) : resolve(port)))
  return promise
}

const withoutHaproxy = (await missingHaproxy()) ?? false

test('no call of gRPC fails while router processes replace each other', (t) => replaceProcesses(t))

const behind = 'no call of gRPC fails while router processes behind HAProxy replace each other'
test(behind, { skip: withoutHaproxy }, (t) => replaceProcesses(t, haproxy))

async function replaceProcesses(t: TestContext, program?: string): Promise<void> {
  const [home, tlsPort] = [await routerHome(), await findFreePort()]
  t.after(() => home.close())
  const source = {
    mark: async () => 'one',
    material: async () => ({
      certificates: [{ host, chain: selfSigned.cert, key: selfSigned.key }],
      challenges: [],
    }),
    states: async () => new Map(),
  }
  const front = program === undefined ? {} : { haproxy: program }
  const options = { ...home.options, tls: { port: tlsPort, source }, ...front }
  await ensureRouterProcess(options)
  const endpoints = [{ address: '127.0.0.1', port: await startTexts((work) => t.after(work)) }]
  const route = { host, service: 's', name: 'texts', speaksHttp2: true, endpoints }
  await createOwnRouter({ process: options, certificates: source }).replaceAll([route], signal)
  const client = textsClient({ port: tlsPort, host, root: selfSigned.cert })
  t.after(() => client.close())
  let [calls, isOver] = [0, false]
  const call = async (): Promise<void> => {
    for (; !isOver; calls++) {
      assert.equal(await client.unary('a'), 'a')
      assert.deepEqual(await client.converse(['a', 'b', 'c']), ['a', 'b', 'c'])
    }
  }
  const callers = Promise.all(Array.from({ length: 4 }, call))
  for (const trusted of ['10.0.0.0/8', '10.1.0.0/16', '10.2.0.0/16']) {
    const before = calls
    await until('calls are answered', () => calls > before + 20)
    assert.equal((await ensureRouterProcess({ ...options, trusted: [trusted] })).adopted, false)
  }
  const before = calls
  await until('calls are answered by the last one', () => calls > before + 20)
  isOver = true
  await callers
  t.diagnostic(`${calls * 2} calls over 3 hand-overs, 0 failed`)
}
