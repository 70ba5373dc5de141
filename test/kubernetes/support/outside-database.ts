import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../../server/database/embedded.ts'
import { type Database, openDatabase } from '../../../server/database/index.ts'
import { silentLogger } from '../../../server/lib/log.ts'
import { forwardFromNode } from './node-forward.ts'

/** A database of another machine, as pods see it. */
export interface OutsideDatabase {
  /** With the password. */
  readonly url: string
  readonly password: string
  /** Its content, for facts that the API does not show. */
  readonly sql: Database
}

/**
 * Starts a PostgreSQL that asks for a password, at a port of the node. It has an empty database,
 * and ends with `opened`.
 */
export async function startOutsideDatabase(opened: AsyncDisposableStack): Promise<OutsideDatabase> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-outside-'))
  opened.defer(() => rm(directory, { recursive: true, force: true }))
  await chmod(directory, 0o711)
  const access = join(directory, 'access.conf')
  await writeFile(access, 'local all platform scram-sha-256\nlocal all all trust\n')
  await writeFile(join(directory, 'postgresql.local.conf'), `hba_file = '${access}'\n`)
  const server = await startEmbedded({
    directory,
    log: silentLogger,
    signal: AbortSignal.timeout(60_000),
    sizes: { durable: false, maxConnections: 200 },
  })
  opened.defer(() => server.stop())
  const password = 'SECRET-CANARY-database'
  const admin = openDatabase({ url: server.url, max: 1, name: 'test admin' })
  await admin.unsafe(`create role platform login password '${password}'`)
  await admin.unsafe("create database platform owner platform encoding 'UTF8' template template0")
  await admin.end({ timeout: 1 })
  const sql = openDatabase({ url: server.url.replace('/postgres?', '/platform?'), max: 2, name: 'test' })
  opened.defer(() => sql.end({ timeout: 1 }))
  const socket = new URL(server.url).searchParams.get('host') ?? ''
  const forward = opened.use(await forwardFromNode({ path: join(socket, '.s.PGSQL.5432') }))
  return { url: `postgres://platform:${password}@${forward.place}/platform`, password, sql }
}
