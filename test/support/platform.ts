import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createFakeBuilder, type NamedBuilder } from '../../server/builders/index.ts'
import { createCertificates } from '../../server/certificates/index.ts'
import { noConnection } from '../../server/clusters/index.ts'
import { type Composition, compose } from '../../server/composition/index.ts'
import { readConfig } from '../../server/config.ts'
import type { Database } from '../../server/database/index.ts'
import { type Cleanup, testDatabase } from '../../server/database/testing.ts'
import { type Engine, FakeEngine, localEngine, type NamedEngine } from '../../server/engines/index.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { limitsFrom, saveCreationLimits } from '../../server/limits/index.ts'
import { createFakeRouter, type NamedRouter } from '../../server/routers/index.ts'
import { openPepper, openVault } from '../../server/vault/index.ts'
import { createSoleDuty } from '../../server/workflows/index.ts'
import { assertDocumented } from './documented-statuses.ts'
import { addObjects, addTenant, type Objects, type Tenant } from './fixture.ts'

export interface PlatformOptions {
  /** The `QUAYSIDE_…` settings of the server under test. */
  readonly settings?: Readonly<Record<string, string>>
  /** Starts workflows and reconcilers. If false, requests stay queued. */
  readonly works?: boolean
  /** The engine for workloads instead of the fake one. */
  readonly engine?: Engine
  /** Further engines, by the names that clusters use for them. */
  readonly engines?: readonly NamedEngine[]
  /** Builders and routers of further engines that do not share the fake ones. */
  readonly builders?: readonly NamedBuilder[]
  readonly routers?: readonly NamedRouter[]
  /** Creates the drivers of connected clusters. */
  readonly connect?: Drivers['connect']
  /** Receives every SQL statement of the server. */
  readonly onStatement?: (text: string) => void
  /**
   * Another connection to the same database, used by the server alone. The server then checks the
   * database regularly, as in production.
   */
  readonly way?: (url: string) => Promise<Way>
}
type Drivers = Parameters<typeof compose>[1]
type Way = { readonly sql: Database; readonly url: string }

/** An answer of the API, as a client sees it. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
  /** The parsed JSON. Undefined for an empty body. */
  readonly body: unknown
}

/** The whole server with a database of its own. Engine, builder and router are fakes. */
export interface Platform extends Composition {
  readonly database: Database
  readonly databaseUrl: string
  /** The server's data directory. */
  readonly directory: string
  readonly engine: FakeEngine
  readonly builder: ReturnType<typeof createFakeBuilder>
  readonly router: ReturnType<typeof createFakeRouter>
  /** Two unrelated organizations. */
  readonly a: Tenant & { readonly objects: Objects }
  readonly b: Tenant & { readonly objects: Objects }
  /** Everything that was logged so far. Nothing is redacted. */
  readonly logged: string[]
  call(token: string | undefined, method: string, path: string, body?: unknown, headers?: Headers): Promise<Answer>
  /**
   * Makes a further server on the same data. It works after `start` or `workflows.start` is called.
   * The test must stop it.
   */
  another(parts?: { readonly drivers?: Omit<Drivers, 'connect'>; readonly way?: Way }): Promise<Composition>
  /** Adds further objects to a tenant. */
  addObjects(tenant: Tenant): Promise<Objects>
  /**
   * Adds a repository `hello` with a Dockerfile and a directory `source` to the tenant's git host.
   * Returns the commit.
   */
  addRepository(tenant: Tenant, change?: string): Promise<string>
  /** Listens on a port of the loopback device. Returns the origin. */
  listen(): Promise<string>
  /**
   * Returns a digest of every table. Two results are equal if nothing was written in between,
   * except when a token was last used.
   */
  fingerprint(): Promise<Readonly<Record<string, string>>>
}
type Headers = Readonly<Record<string, string>>

/**
 * Starts a platform. It stops with the test `t`, or with the file if `{ after }` of node:test is
 * passed.
 */
export async function createPlatform(t: Cleanup, options: PlatformOptions = {}): Promise<Platform> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-platform-'))
  let ending = async (): Promise<void> => {}
  t.after(() => ending())
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  const { onStatement } = options
  const { sql: database, url } = await testDatabase(t, onStatement && { onStatement })
  // Tests make many objects in one organization.
  await saveCreationLimits(
    database,
    limitsFrom(() => 1_000_000),
  )
  const way = await options.way?.(url)
  const logged: string[] = []
  const engine = new FakeEngine({ clock: systemClock })
  const fakes = { builder: createFakeBuilder(), router: createFakeRouter() }
  const enginesWith = (local: Engine) => [{ name: localEngine, engine: local }, ...(options.engines ?? [])]
  const own = { builders: options.builders ?? [], routers: options.routers ?? [] }
  const sharing = (others: readonly { readonly name: string }[]) =>
    enginesWith(engine).filter(({ name }) => !others.some((one) => one.name === name))
  const around = {
    builders: [...sharing(own.builders).map(({ name }) => ({ name, builder: fakes.builder })), ...own.builders],
    routers: [...sharing(own.routers).map(({ name }) => ({ name, router: fakes.router })), ...own.routers],
  }
  const connect = options.connect ?? noConnection
  const drivers = { ...around, engines: enginesWith(engine) }
  const ground = (other: Way | undefined) => (other ? { database: other.sql, databaseUrl: other.url } : { database })
  const composition = await composeIn(directory, ground(way), logged, options, {
    ...around,
    engines: enginesWith(options.engine ?? engine),
    connect,
  })
  ending = () => composition.stop()
  if (options.works) composition.start()
  const [a, b] = await Promise.all(['A', 'B'].map((name) => addTenant(database, composition, name)))
  if (!a || !b) throw new Error('a tenant was not made')
  const ofA = await addObjects(database, composition, a)
  const ofB = await addObjects(database, composition, b)
  return {
    ...composition,
    ...fakes,
    engine,
    database,
    databaseUrl: url,
    directory,
    logged,
    a: { ...a, objects: ofA },
    b: { ...b, objects: ofB },
    call: (token, method, path, body, headers) => call(composition, { token, method, path, body, headers }),
    another: (parts) =>
      composeIn(directory, ground(parts?.way), logged, options, { connect, ...(parts?.drivers ?? drivers) }),
    addObjects: (tenant) => addObjects(database, composition, tenant),
    addRepository: (tenant, change = '') => addRepository(directory, composition, tenant, change),
    listen: () => composition.app.listen({ host: '127.0.0.1', port: 0 }),
    fingerprint: () => fingerprint(database),
  }
}

async function composeIn(
  directory: string,
  ground: { readonly database: Database; readonly databaseUrl?: string },
  logged: string[],
  { settings }: PlatformOptions,
  drivers: Drivers,
): Promise<Composition> {
  const config = readConfig({
    QUAYSIDE_DATA: directory,
    QUAYSIDE_RATE_LIMIT: '0',
    // The disk of the fake engine is smaller than any storage size.
    QUAYSIDE_ORGANIZATION_DISK: '0',
    QUAYSIDE_DOCKER_HOST: join(directory, 'no-engine.sock'),
    ...settings,
  })
  const log = pino({ level: 'debug' }, { write: (line: string) => void logged.push(line) })
  const { database } = ground
  const vault = await openVault({ database, masterKeyFile: config.masterKeyFile, log })
  const pepper = await openPepper({ database, file: join(directory, 'token.pepper') })
  // Tests have a router in memory.
  const none = join(directory, 'no-router')
  const routerProcess = { host: '127.0.0.1', port: 0, controlSocket: none, stateFile: none, logFile: none }
  return compose(
    {
      ...ground,
      config,
      log,
      vault,
      pepper,
      instance: 'test',
      routerProcess,
      certificates: createCertificates({
        database,
        vault,
        clock: systemClock,
        log,
        settings: config.routerTls ?? config.clusterTls,
        speaking: { machine: config.routerTls !== undefined, clusters: config.clusterTls !== undefined },
        hosts: [],
        publishRoot: async () => {},
      }),
      formerUrls: [],
      reconcilers: [],
      always: [],
      duty: createSoleDuty(),
    },
    drivers,
  )
}

async function call(
  { app }: Composition,
  request: {
    token: string | undefined
    method: string
    path: string
    body?: unknown
    headers?: Headers | undefined
  },
): Promise<Answer> {
  const { token, method, path, body, headers } = request
  const isRaw = typeof body === 'string' || Buffer.isBuffer(body)
  const answer = await app.inject({
    // The types allow only the usual methods, but attacks send others.
    method: method as 'GET',
    url: path,
    headers: {
      host: 'localhost',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { payload: isRaw ? body : JSON.stringify(body) }),
  })
  assertDocumented(method, path, answer.statusCode)
  const isJson = String(answer.headers['content-type']).startsWith('application/json') && answer.payload !== ''
  const parsed: unknown = isJson ? JSON.parse(answer.payload) : undefined
  return { status: answer.statusCode, headers: answer.headers, text: answer.payload, body: parsed }
}

async function addRepository(
  directory: string,
  { gitHost }: Composition,
  { organizationId }: Tenant,
  change: string,
): Promise<string> {
  const tree = join(directory, 'trees', organizationId)
  await mkdir(join(tree, 'source'), { recursive: true })
  await writeFile(join(tree, 'Dockerfile'), `FROM scratch\n# ${change}\n`)
  await writeFile(join(tree, 'source', 'main.js'), '')
  return gitHost.importDirectory(organizationId, 'hello', tree, 'A tree of the tests')
}

async function fingerprint(database: Database): Promise<Record<string, string>> {
  statement ??= fingerprintStatement(database)
  const rows = await database.unsafe<{ name: string; digest: string }[]>(await statement, [], { prepare: true })
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
}

/** All databases of tests have the same tables. */
let statement: Promise<string> | undefined

/**
 * Returns one statement for all tables that adds the digests of their rows, because hundreds of
 * tests compare fingerprints.
 */
async function fingerprintStatement(database: Database): Promise<string> {
  // Reconcilers number and chain rows after the write.
  const tables = await database<{ name: string; hasIgnored: boolean }[]>`
    select table_name as name, bool_or(column_name in ('last_used_at', 'sequence', 'hash')) as "hasIgnored"
    from information_schema.columns
    where table_schema = 'public' and table_name not in ('audit_chain', 'state_change_feed')
    group by table_name order by table_name`
  const digests = tables.map(({ name, hasIgnored }) => {
    const row = hasIgnored ? `(to_jsonb(t) - '{last_used_at,sequence,hash}'::text[])` : 't'
    const sum = `coalesce(sum(hashtextextended(${row}::text, 0)), 0)`
    return `select '${name}' as name, count(*) || ' ' || ${sum} as digest from "${name}" t`
  })
  return digests.join(' union all ')
}
