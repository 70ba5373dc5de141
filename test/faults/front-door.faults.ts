import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { frontFiles } from '../../router/front/front-files.ts'
import { findHaproxy } from '../../router/front/start-haproxy.ts'
import { findPostmaster } from '../../server/database/postmaster.ts'
import { systemClock as clock } from '../../server/lib/clock.ts'
import { findRouter } from '../../server/routers/own/find-router.ts'
import { makeWeb, type TestApplication } from '../support/application.ts'
import { findFreePort } from '../support/free-port.ts'
import { startDoorAuthority } from '../support/front-door.ts'
import { haproxy, missingHaproxy } from '../support/haproxy.ts'
import { secureClient } from '../support/https.ts'
import { type LaneFailure, startLanes } from '../support/lanes.ts'
import { seeded } from '../support/seed.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { web } from '../support/trees.ts'
import { until } from '../support/until.ts'

// Requests over plain HTTP, HTTPS and HTTP/2 during deployments, renewals of the certificate and
// kills of every process. The numbers can be made smaller for a short run.

const read = (name: string, usual: number): number => Number(process.env[name] || usual)
const wanted = read('QUAYSIDE_TEST_REQUESTS', 1_000_000)
const deployments = read('QUAYSIDE_TEST_DEPLOYMENTS', 100)
const patienceMs = 10_000

interface Door {
  readonly server: ServerProcess
  readonly env: Readonly<Record<string, string>>
  readonly application: TestApplication
}

/** Kills one process of the installation, and waits until another one has its place. */
const kills = {
  server: async ({ server, env }: Door) => server.restart({ env }),
  router: ({ server }: Door) => replace(async () => (await findRouter({ controlSocket: controlSocket(server) }))?.pid),
  postgresql: ({ server }: Door) =>
    replace(async () => (await findPostmaster(join(server.dataDirectory, 'postgresql', 'cluster')))?.pid),
  haproxy: ({ server }: Door) => replace(async () => (await findHaproxy(frontFiles(controlSocket(server))))?.pid),
}
type Kind = keyof typeof kills

const controlSocket = ({ dataDirectory }: ServerProcess): string => join(dataDirectory, 'router/control.sock')

async function replace(find: () => Promise<number | undefined>): Promise<void> {
  const previous = await until('the process runs', find)
  process.kill(previous, 'SIGKILL')
  await until('another process has its place', async () => {
    const found = await find().catch(() => undefined)
    return found !== undefined && found !== previous
  })
}

/** Waits until the application has the certificate, and returns a client's view of it. */
async function hasCertificate(tlsPort: number, root: string, host: string): Promise<void> {
  const client = secureClient({ port: tlsPort, root })
  await until('the host answers over HTTPS', () => client.ask(host).catch(() => undefined))
  client.close()
}

interface Kill {
  readonly kind: Kind
  readonly at: number
  /** The time at which the API answered again. */
  readonly until: number
}

/** Returns the kill after which a request failed. Undefined if none was near. */
const causeOf = ({ failedAt }: LaneFailure, kills: readonly Kill[]): Kill | undefined => {
  const last = kills.findLast(({ at }) => at <= failedAt)
  return last && failedAt < last.until + 1000 ? last : undefined
}

/** How many requests failed at first for each reason, and their longest time. */
const summary = (failures: readonly LaneFailure[]): string =>
  [...Map.groupBy(failures, ({ wire, reason }) => `${wire} ${reason}`)]
    .map(
      ([why, all]) => `${all.length} × ${why}, right after ${Math.max(...all.map((one) => one.tookMs)).toFixed(0)} ms`,
    )
    .join('; ')

for (const front of ['router', 'haproxy'] as const) {
  describe(`the door of the ${front}`, async () => {
    const [routerPort, tlsPort] = [await findFreePort(), await findFreePort()]
    const why = front === 'haproxy' ? await missingHaproxy() : undefined
    const kinds: readonly Kind[] = [
      'server',
      'router',
      'postgresql',
      ...(front === 'haproxy' ? ['haproxy' as const] : []),
    ]

    test(`${wanted} requests, ${deployments} deployments, and kills of each process`, {
      skip: why ?? false,
      timeout: 3_600_000,
    }, async (t) => {
      const random = seeded(t, front)
      const authority = await startDoorAuthority(t, { domain: 'lab.test', httpPort: routerPort })
      if (!authority) return t.skip('this machine has no Go')
      const env = {
        ...authority.settings,
        QUAYSIDE_ROUTER_PORT: String(routerPort),
        QUAYSIDE_ROUTER_TLS_PORT: String(tlsPort),
        ...(front === 'haproxy' && { QUAYSIDE_HAPROXY: haproxy }),
      }
      const server = await startServer({ env })
      t.after(() => server.close())
      const settings = { 'network.ingress.force_ssl_redirect': false }
      const application = await makeWeb(server)
      t.after(() => application.git.remove())
      await server.must('PUT', `/application/${application.id}/advancedSettings`, settings)
      await application.run(web('0'))
      const host = new URL(application.url).hostname
      const root = await authority.pebble.root()
      await hasCertificate(tlsPort, root, host)
      const door = { server, env, application }
      const lanes = startLanes({ host, plainPort: routerPort, tlsPort, root, lanes: 32, perLaneSecond: 80, patienceMs })
      t.after(() => lanes.close())
      const killed: Kill[] = []
      const renewals = () => server.output.filter((line) => line.includes('certificate issued') && line.includes(host))
      for (let turn = 1; turn <= deployments; turn++) {
        await application.ship(web(String(turn)))
        const kind = kinds[turn % (kinds.length + 1)]
        const before = renewals().length
        if (kind) {
          // The moment is random on purpose.
          await clock.sleep(random.below(1500))
          const at = Date.now()
          await kills[kind](door)
          await until('the API answers', async () => (await server.api('GET', '/organization')).status === 200)
          killed.push({ kind, at, until: Date.now() })
        } else await server.sql`update host_certificate set due_at = 'epoch' where host = ${host}`
        const { state, reason } = await application.settles()
        assert.deepEqual({ state, reason }, { state: 'RUNNING', reason: null })
        if (!kind) await until('the certificate is renewed', () => renewals().length > before, { limitMs: 30_000 })
      }
      await lanes.sends(wanted, 3_000_000)
      const { sent, versions, failures } = await lanes.end()
      const during = (kind: Kind) => failures.filter((one) => causeOf(one, killed)?.kind === kind)
      const rest = failures.filter((one) => !causeOf(one, killed))
      t.diagnostic(
        `${sent} requests, ${renewals().length - 1} renewals, answers of ${Object.keys(versions).length} versions`,
      )
      for (const kind of kinds) {
        const count = killed.filter((kill) => kill.kind === kind).length
        t.diagnostic(`${count} kills of ${kind}: ${summary(during(kind)) || 'no request failed'}`)
      }
      assert.deepEqual(rest, [], 'requests failed while no process was killed')
      assert.deepEqual(
        failures.filter(({ isLost }) => isLost),
        [],
        'lost requests',
      )
      // HAProxy outlives the router and carries the application's requests meanwhile.
      const harmless = ['server', 'postgresql', ...(front === 'haproxy' ? (['router'] as const) : [])] as const
      for (const kind of harmless) assert.deepEqual(during(kind), [], `kills of ${kind}`)
    })
  })
}
