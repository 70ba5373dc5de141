import { createServer } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createFakeBuilder } from '../server/builders/index.ts'
import { type LongRunning, localEngine } from '../server/engines/index.ts'
import { silent } from '../server/lib/attempt.ts'
import { systemClock as clock } from '../server/lib/clock.ts'
import { createFakeRouter } from '../server/routers/index.ts'
import { oneConnection } from './one-connection.ts'
import { ScaleEngine } from './scale-engine.ts'
import { until } from './until.ts'
import { composeServer } from './whole-server.ts'

/**
 * The whole server, whose connected clusters are fakes that already run what the records say.
 * Arguments: port, port of this benchmark, URL of the database, directory.
 */
const [port = '', controlPort = '', url = '', directory = ''] = process.argv.slice(2)

/** When the replicas were started, as their stored observations say. */
const startedAt = new Date('2026-01-01T00:00:00Z')
const engines = new Map<string, ScaleEngine>()
const engineOf = (name: string): ScaleEngine => {
  const engine = engines.get(name) ?? new ScaleEngine({ clock: { ...clock, now: () => startedAt } })
  engines.set(name, engine)
  return engine
}
await fillEngines()

let statements = 0
const byText = new Map<string, number>()
const onStatement = (text: string): void => {
  statements++
  const key = text.replace(/\s+/g, ' ').slice(0, 90)
  byText.set(key, (byText.get(key) ?? 0) + 1)
}
const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
const began = clock.monotonic()
const builder = createFakeBuilder()
const router = createFakeRouter()
const server = await composeServer({ port, url, directory, onStatement }, { QUAYSIDE_ORGANIZATION_DISK: '0' }, () => ({
  engines: [{ name: localEngine, engine: engineOf(localEngine) }],
  builders: [{ name: localEngine, builder }],
  routers: [{ name: localEngine, router }],
  connect: ({ engine, hasDomain }) => ({
    engine: engineOf(engine),
    builder,
    router: hasDomain ? Object.assign(createFakeRouter(), { countsRequests: () => false }) : router,
    close: () => {},
  }),
}))
await server.connect()
await server.app.listen({ host: '127.0.0.1', port: Number(port) })
const answersMs = clock.monotonic() - began
server.start()
let observedMs: number | undefined
void until('every cluster was observed', () => [...engines.values()].every(({ looks }) => looks > 1), {
  limitMs: 600_000,
  everyMs: 50,
}).then(() => {
  observedMs = clock.monotonic() - began
})

/** Answers `scale.ts`: figures since the last question, starts of services, and crashes. */
createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const service = searchParams.get('service') ?? ''
  const answer = (value: unknown): void => void response.end(JSON.stringify(value))
  if (pathname === '/figures') {
    const texts = [...byText].sort(([, one], [, other]) => other - one).slice(0, 10)
    answer({ answersMs, observedMs, statements, stallMs: delay.max / 1e6, texts })
    statements = 0
    byText.clear()
    delay.reset()
  } else if (pathname === '/started') {
    answer(Math.max(0, ...[...engines.values()].map((one) => one.startedAt.get(service) ?? 0)))
  } else {
    for (const engine of engines.values()) engine.crash(service)
    answer(Date.now())
  }
}).listen(Number(controlPort), '127.0.0.1')

/** Starts on the fakes what the records say, and records that it was observed. */
async function fillEngines(): Promise<void> {
  const sql = oneConnection(url)
  const rows = await sql<{ id: string; release_id: string; environment_id: string; engine: string; image: string }[]>`
    select s.id, s.release_id, s.environment_id, k.engine, r.image ->> 'reference' as image
    from service s join release r on r.id = s.release_id join environment e on e.id = s.environment_id
      join cluster k on k.id = e.cluster_id`
  const { signal } = new AbortController()
  for (const row of rows) {
    const release = { id: row.release_id, service: row.id, environment: row.environment_id, displayName: row.id }
    const engine = engineOf(row.engine)
    await engine.start({ ...release, workload: workloadOf(row.image) }, { signal, output: silent })
  }
  await sql`
    insert into observation (service_id, state, release_id, replicas, observed_at)
    select s.id, 'running', s.release_id, jsonb_build_array(jsonb_build_object(
      'name', s.id || '-' || right(s.release_id::text, 8) || '-1', 'running', true, 'image', r.image ->> 'reference',
      'startedAt', ${startedAt.toISOString()}::text, 'exits', 0, 'outOfMemory', false)), now()
    from service s join release r on r.id = s.release_id
    on conflict (service_id) do update set state = excluded.state, replicas = excluded.replicas`
  await sql.end()
}

function workloadOf(image: string): LongRunning {
  const port = { name: 'p8080', internalPort: 8080, protocol: 'HTTP' } as const
  return {
    shape: 'long-running',
    image,
    arguments: [],
    variables: {},
    files: [],
    cpuMilli: 100,
    memoryMiB: 64,
    aliases: [],
    replicas: { min: 1, max: 1 },
    ports: [port],
    probes: {},
    storage: [],
    stopGraceSeconds: 30,
    startDeadlineSeconds: 60,
  }
}
