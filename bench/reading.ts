import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { findFreePort } from '../test/support/free-port.ts'
import { startChild } from './child.ts'
import { atLeast, type Benchmark, relative, type Session } from './figure.ts'
import { ask } from './http.ts'
import { createInstallation, type Installation } from './installation.ts'
import { load } from './load.ts'
import { paired } from './paired.ts'
import { readOperation, recordStatement } from './statement.ts'

const rounds = 9
const seconds = 2

/**
 * Measures authenticated reads of one application a second against a bare program with the same
 * statement.
 */
export const reading: Benchmark = {
  figures: ['read-one'],
  async measure(session) {
    const installation = await createInstallation(session)
    await installation.start()
    const reads = await prepareReads(session, installation)
    const { read } = await paired(rounds, reads.floor, async () => ({ read: await reads.own() }))
    return [relative('read-one', read, 'requests/s', atLeast(0.85))]
  },
}

/**
 * Returns both ways to read the application that the first start created. Each returns requests a
 * second.
 */
export async function prepareReads(session: Session, installation: Installation) {
  const token = await installation.token()
  const path = `/application/${await anyApplication(installation)}`
  const headers = { Authorization: `Bearer ${token}` }
  const floorPort = await startFloor(session, installation, path)
  await sameAnswers(installation.port, floorPort, path, headers)
  const run = async (port: number, duration = seconds): Promise<number> =>
    (await load({ port, paths: [path], headers, seconds: duration })).perSecond
  await run(floorPort, 1)
  await run(installation.port, 1)
  return { floor: () => run(floorPort), own: () => run(installation.port) }
}

async function startFloor(session: Session, installation: Installation, path: string): Promise<number> {
  const targetId = path.split('/')[2] ?? ''
  const sockets = await socketsOf(installation.directory)
  const token = await installation.token()
  const statement = await recordStatement(readOperation, { sockets, token, targetId })
  const { maximum_cpu, maximum_memory, maximun_gpu } = await installation.api('GET', path)
  const file = join(installation.directory, 'floor.json')
  const ceiling = { maximum_cpu, maximum_memory, maximun_gpu }
  await writeFile(file, JSON.stringify({ ...statement, targetId, ceiling }))
  const port = await findFreePort()
  await startChild(session, 'floors/reader.ts', [String(port), sockets, file], port)
  return port
}

/** Throws if the floor answers differently: it must do the same work as the server. */
async function sameAnswers(own: number, floor: number, path: string, headers: Record<string, string>): Promise<void> {
  const [mine, bare] = await Promise.all([own, floor].map((port) => ask({ port, path, headers })))
  if (mine?.status !== 200 || mine.body !== bare?.body) {
    throw new Error(`the floor and the server answer differently:\n${mine?.body}\n${bare?.body}`)
  }
}

/** Returns where PostgreSQL listens, from the command stored with its data. */
export async function socketsOf(directory: string): Promise<string> {
  const pidFile = join(directory, 'postgresql', 'cluster', 'postmaster.pid')
  return (await readFile(pidFile, 'utf8')).split('\n')[4] ?? ''
}

/** Creates a database and a directory for one program. The end of the session removes them. */
export async function emptyDatabase(session: Session, installation: Installation, name: string) {
  const host = await socketsOf(installation.directory)
  const admin = postgres({ host, username: 'quayside', database: 'postgres', max: 1, onnotice: () => {} })
  await admin`create database ${admin(name)}`
  await admin.end()
  const directory = await mkdtemp(join(tmpdir(), `quayside-bench-${name}-`))
  session.ending.defer(() => rm(directory, { recursive: true, force: true }))
  return { host, directory, url: `postgres://quayside@localhost/${name}?host=${encodeURIComponent(host)}` }
}

async function anyApplication({ api }: Installation): Promise<string> {
  const first = async (path: string): Promise<string> => {
    const { results } = await api('GET', path)
    return Array.isArray(results) ? String(results[0]?.id) : ''
  }
  const project = await first(`/organization/${await first('/organization')}/project`)
  return first(`/environment/${await first(`/project/${project}/environment`)}/application`)
}
