import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { KubernetesEngine } from '../server/engines/index.ts'
import { createAddressGuard } from '../server/lib/address.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { findFreePort } from '../test/support/free-port.ts'
import { selfSigned } from '../test/support/self-signed.ts'
import { startChild } from './child.ts'
import { absolute, atMost, type Benchmark, type Session } from './figure.ts'
import { until } from './until.ts'

const counts = { few: 100, many: 1_100 }
const idleMs = 60_000
const instance = 'bench'
const limit = (): AbortSignal => AbortSignal.timeout(60_000)

/**
 * Measures what it costs to follow 1,000 services of two replicas on a cluster: memory for each of
 * them, how many observations differ after one change, and calls to the API server while nothing
 * happens. The API server is replayed by another process.
 */
export const informing: Benchmark = {
  figures: ['kubernetes-informers', 'kubernetes-changes', 'kubernetes-idle-calls'],
  async measure(session) {
    const few = await follow(session, counts.few)
    const many = await follow(session, counts.many)
    const kilobytes = (many.bytes - few.bytes) / (counts.many - counts.few) / 1000
    return [
      absolute('kubernetes-informers', kilobytes, 'kB/service', atMost(60)),
      absolute('kubernetes-changes', many.changed, 'observations', atMost(1)),
      absolute('kubernetes-idle-calls', many.callsPerSecond, 'calls/s', atMost(1)),
    ]
  },
}

async function follow(session: Session, services: number) {
  const port = await findFreePort()
  await startChild(session, 'informing-api.ts', [String(port), instance, String(services)], port)
  const engine = new KubernetesEngine({
    access: async () => ({
      server: `https://127.0.0.1:${port}`,
      authority: selfSigned.cert,
      serverName: 'outside.invalid',
    }),
    guard: createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8', '10.0.0.0/8'] }),
    instance,
    clock,
    helperImage: 'unused',
    registry: undefined,
  })
  const before = await heldBytes()
  let seen = await engine.observeAll(limit())
  if (seen.size !== services) throw new Error(`${seen.size} services are observed instead of ${services}`)
  const bytes = (await heldBytes()) - before
  session.say(`  ${services} services: ${(bytes / 1e6).toFixed(1)} MB`)

  const former = new Map([...seen].map(([service, one]) => [service, JSON.stringify(one)]))
  const service = await ask(port, '/change')
  await until('the change is observed', async () => {
    seen = await engine.observeAll(limit())
    return JSON.stringify(seen.get(service)) !== former.get(service)
  })
  const changed = [...seen].filter(([id, one]) => JSON.stringify(one) !== former.get(id)).length

  const calls = Number(await ask(port, '/asked'))
  const startedMs = clock.monotonic()
  while (clock.monotonic() - startedMs < idleMs) {
    await engine.observeAll(limit())
    await clock.sleep(1_000)
  }
  const callsPerSecond = (Number(await ask(port, '/asked')) - calls) / (idleMs / 1000)
  engine.close()
  return { bytes, changed, callsPerSecond }
}

/** Returns the memory that is in use after a collection. */
async function heldBytes(): Promise<number> {
  setFlagsFromString('--expose-gc')
  // The flag adds this function to contexts that are created later.
  const collect: () => void = runInNewContext('gc')
  for (let round = 0; round < 3; round++) {
    collect()
    await clock.sleep(200)
  }
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function ask(port: number, path: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const options = { port, host: '127.0.0.1', path, ca: selfSigned.cert, servername: 'outside.invalid', agent: false }
  request(options, (answer) => void text(answer).then(resolve, reject))
    .on('error', reject)
    .end()
  return promise
}
