import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Database, openDatabase } from '../../server/database/index.ts'
import { type EngineView, viewEngine } from './engine-view.ts'
import { type Exit, findGround, type Ground, launchServer, settingsOf } from './launch-server.ts'
import { startTidying, type Tidying } from './tidying.ts'

export interface Reply<T> {
  readonly status: number
  readonly body: T
}

/**
 * A start that is interrupted. The process gets the signal as soon as this line begins to appear.
 */
export interface Cut {
  readonly line: string
  readonly signal: 'SIGKILL' | 'SIGTERM'
}

export interface StartOptions {
  /** The value of QUAYSIDE_FAILPOINT: `name:kill`. */
  readonly failpoint?: string
  /** Settings that override the usual ones. */
  readonly env?: Readonly<Record<string, string>>
}

/**
 * A real server process with its own data directory, ports, PostgreSQL and router. The engine is
 * that of the machine.
 */
export interface ServerProcess {
  readonly dataDirectory: string
  readonly engine: EngineView
  readonly apiUrl: string
  readonly routerPort: number
  /**
   * The value of the label `quayside.instance`. It marks this installation's objects in the engine.
   */
  readonly instance: string
  readonly organizationId: string
  readonly token: string
  /** The server's database, for facts that the API does not show. */
  readonly sql: Database
  /** The exits of the interrupted starts. */
  readonly cuts: readonly Exit[]
  /** All lines that its processes have printed, on both streams. */
  readonly output: readonly string[]
  /** Sends a call to the API. Rejects only if no answer arrives. */
  api<T = unknown>(method: string, path: string, body?: unknown): Promise<Reply<T>>
  /** Sends a call to the API. Throws unless it succeeds. */
  must<T = unknown>(method: string, path: string, body?: unknown): Promise<T>
  /** Returns the process id of the current process. */
  pid(): number
  /** Waits until the current process ends. Returns how it ended. */
  exited(): Promise<Exit>
  kill9(): Promise<void>
  /** Suspends the process until `resume`. */
  pause(): void
  resume(): void
  /** Stops the server in order with SIGTERM. */
  stop(): Promise<Exit>
  /**
   * Kills what still runs and starts the server again. With `ready: false` it does not wait until
   * the server is ready.
   */
  restart(options?: StartOptions & { readonly ready?: boolean }): Promise<void>
  /** Ends everything and removes what it left. */
  close(): Promise<void>
}

/**
 * Starts a server and waits until it is ready. Its first start makes an organization and deploys
 * the example. `cutAt` lists starts before that which are interrupted. `engineSocket` selects
 * another engine than the machine's, `dataDirectory` another directory.
 */
export async function startServer(
  options: StartOptions & {
    readonly cutAt?: readonly Cut[]
    readonly engineSocket?: string
    readonly dataDirectory?: string
  } = {},
): Promise<ServerProcess> {
  const ground = await findGround(options.dataDirectory)
  const tidying = startTidying(ground.dataDirectory)
  try {
    return await startOn(ground, tidying, options)
  } catch (error) {
    await tidying.finish()
    throw error
  }
}

async function startOn(
  { dataDirectory, port, routerPort }: Ground,
  tidying: Tidying,
  options: Parameters<typeof startServer>[0] = {},
): Promise<ServerProcess> {
  const engine = viewEngine(options.engineSocket)
  tidying.note('engine', engine.socketPath)
  const usual = settingsOf({ dataDirectory, port, routerPort }, engine.socketPath)
  const output: string[] = []
  const begin = ({ failpoint, env }: StartOptions) => {
    const point = failpoint ? { QUAYSIDE_FAILPOINT: failpoint } : {}
    const begun = launchServer({ ...usual, ...point, ...env }, output)
    tidying.note('server', begun.child.pid)
    return begun
  }
  const cuts: Exit[] = []
  for (const { line, signal } of options.cutAt ?? []) {
    const cut = begin(options)
    await cut.printed(line)
    cut.child.kill(signal)
    cuts.push(await cut.exit)
  }
  let run = begin(options)
  const end = (signal: NodeJS.Signals): Promise<Exit> => {
    run.child.kill(signal)
    return run.exit
  }
  await run.printed('Ready.')
  const sql = openDatabase({ url: databaseUrl(dataDirectory), max: 2, name: 'test' })
  const { service, ...facts } = await readFacts(sql)
  tidying.note('instance', facts.instance)
  if (service !== null) tidying.note('service', service)
  const token = (await readFile(join(dataDirectory, 'admin-token'), 'utf8')).trim()
  const api = createCaller({ origin: `http://127.0.0.1:${port}`, token, tidying })
  return {
    ...facts,
    dataDirectory,
    engine,
    apiUrl: `http://localhost:${port}`,
    routerPort,
    token,
    sql,
    output,
    cuts,
    api,
    must: async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const reply = await api<T>(method, path, body)
      if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    },
    pid: () => run.child.pid ?? 0,
    exited: () => run.exit,
    kill9: async () => void (await end('SIGKILL')),
    pause: () => void run.child.kill('SIGSTOP'),
    resume: () => void run.child.kill('SIGCONT'),
    stop: () => end('SIGTERM'),
    restart: async (again = {}) => {
      await end('SIGKILL')
      run = begin(again)
      if (again.ready !== false) await run.printed('Ready.')
    },
    close: async () => {
      await sql.end({ timeout: 1 }).catch(() => {})
      await tidying.finish()
    },
  }
}

export function createCaller({ origin, token, tidying }: { origin: string; token: string; tidying: Tidying }) {
  return async <T>(method: string, path: string, body?: unknown): Promise<Reply<T>> => {
    const content = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { authorization: `Token ${token}`, ...content },
      signal: AbortSignal.timeout(30_000),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    // The contract promises this shape, and test/contract checks it.
    const parsed = (text === '' ? undefined : JSON.parse(text)) as T
    const isApplication = answer.status === 201 && /^\/environment\/[^/]+\/(?:application|job|terraform)$/.test(path)
    if (isApplication) tidying.note('service', Object(parsed).id)
    return { status: answer.status, body: parsed }
  }
}

const databaseUrl = (dataDirectory: string): string =>
  `postgres://quayside@localhost/postgres?host=${encodeURIComponent(join(dataDirectory, 'postgresql', 'socket'))}`

export async function readFacts(sql: Database) {
  const [row] = await sql<{ instance: string; organizationId: string; service: string | null }[]>`
    select (select value#>>'{}' from setting where key = 'instance') as instance,
      (select id from organization) as "organizationId", (select id from service) as service`
  if (!row) throw new Error('the server returned no facts')
  return row
}
