import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { findFreePort } from '../test/support/free-port.ts'
import { startChild } from './child.ts'
import { atLeast, type Benchmark, relative, type Session } from './figure.ts'
import { createInstallation, type Installation } from './installation.ts'
import { load } from './load.ts'
import { paired } from './paired.ts'
import { prepareReads, socketsOf } from './reading.ts'
import { until } from './until.ts'

const rounds = 9
const seconds = 2
/** More than one round accepts: a second request for an environment would merge into the first. */
const environments = 10_000

/**
 * Measures deployments accepted a second, each stored durably and answered, against the floor of
 * reading. The server does not run them because its workflows are not started. Its database is in
 * the PostgreSQL of the installation.
 */
export const accepting: Benchmark = {
  figures: ['accept-deploy'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const { floor } = await prepareReads(session, installation)
    const accept = await prepareAccepting(session, installation)
    await accept()
    const { accepted } = await paired(rounds, floor, async () => ({ accepted: await accept() }))
    return [relative('accept-deploy', accepted, 'requests/s', atLeast(0.3))]
  },
}

async function prepareAccepting(session: Session, installation: Installation): Promise<() => Promise<number>> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-bench-accepting-'))
  const host = await socketsOf(installation.directory)
  const connect = (database: string) => postgres({ host, username: 'quayside', database, max: 1, onnotice: () => {} })
  const first = connect('postgres')
  await first`create database accepting`
  await first.end()
  const port = await findFreePort()
  const url = `postgres://quayside@localhost/accepting?host=${encodeURIComponent(host)}`
  const args = [String(port), url, directory, String(environments)]
  await startChild(session, 'accepting-server.ts', args, port)
  const sql = connect('accepting')
  session.ending.defer(async () => {
    await sql.end()
    await rm(directory, { recursive: true, force: true })
  })
  const { token, applications } = JSON.parse(await readFile(join(directory, 'accepting.json'), 'utf8'))
  const paths = applications.map((id: string) => `/application/${id}/deploy`)
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return async () => {
    const before = await settledCount(sql)
    const { perSecond, answered } = await load({ port, paths, method: 'POST', headers, body: '{}', seconds })
    const written = (await settledCount(sql)) - before
    if (answered > environments) throw new Error(`${answered} requests for ${environments} environments: some merged`)
    if (written < answered) throw new Error(`${answered} requests were accepted, but only ${written} written`)
    await finishAll(sql)
    return perSecond
  }
}

/** Marks everything queued as done, and vacuums the database. */
async function finishAll(sql: postgres.Sql): Promise<void> {
  await sql`update workflow set state = 'done', finished_at = now() where state = 'queued'`
  await sql`update deployment_target set status = 'SUCCESS', finished_at = now() where status = 'QUEUED'`
  await sql`update deployment_request set status = 'SUCCESS', finished_at = now() where status = 'QUEUED'`
  await sql`update service set state = 'DEPLOYED' where state <> 'DEPLOYED'`
  await sql`vacuum analyze`
}

/**
 * Waits until requests that were in progress at the end of the load are stored, then counts all.
 */
function settledCount(sql: postgres.Sql): Promise<number> {
  let before = -1
  return until(
    'the number of accepted requests is stable',
    async () => {
      const [{ count = 0 } = {}] = await sql<{ count: number }[]>`select count(*)::int as count from deployment_request`
      const isSettled = count === before
      before = count
      return isSettled && count
    },
    { everyMs: 100 },
  )
}
