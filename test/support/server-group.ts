import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openDatabase } from '../../server/database/index.ts'
import { type Cleanup, testDatabase } from '../../server/database/testing.ts'
import { viewEngine } from './engine-view.ts'
import { findFreePort } from './free-port.ts'
import { type Exit, findGround, launchServer, settingsOf } from './launch-server.ts'
import { createCaller, readFacts, type ServerProcess } from './server-process.ts'
import { startTidying } from './tidying.ts'

/** One of several servers on one database. */
export interface Member {
  readonly name: string
  readonly api: ServerProcess['api']
  readonly isRunning: () => boolean
  /** Whether it printed that it does the work, after its last start. */
  readonly output: readonly string[]
  kill9(): Promise<void>
  stop(): Promise<Exit>
  /** Starts it again. `ready: false` does not wait. */
  begin(options?: { readonly ready?: boolean }): Promise<void>
}

export interface ServerGroup {
  readonly members: readonly Member[]
  /** All of them as one server, as clients see them behind a balancer. */
  readonly server: ServerProcess
}

/**
 * Starts servers that share a database, a data directory and the router of that directory. Each has
 * a port of its own. Their first start makes the organization once.
 */
export async function startServerGroup(cleanup: Cleanup, count: number): Promise<ServerGroup> {
  const { url } = await testDatabase(cleanup)
  const ground = await findGround()
  const tidying = startTidying(ground.dataDirectory)
  cleanup.after(() => tidying.finish())
  const engine = viewEngine()
  tidying.note('engine', engine.socketPath)
  const output: string[] = []
  const ports = [ground.port, ...(await Promise.all(Array.from({ length: count - 1 }, () => findFreePort())))]
  const launch = (port: number, lines: string[]) => {
    const begun = launchServer(
      {
        ...settingsOf({ ...ground, port }, engine.socketPath),
        QUAYSIDE_DATABASE_URL: url,
        QUAYSIDE_SHARED_DATA: 'on',
        QUAYSIDE_SNAPSHOT: 'off',
        QUAYSIDE_PUBLIC_URL: `http://localhost:${ground.port}`,
        QUAYSIDE_SCRATCH: join(ground.dataDirectory, `scratch-${port}`),
      },
      lines,
    )
    tidying.note('member', `${port}:${begun.child.pid}`)
    return begun
  }
  const starts = ports.map((port) => {
    const lines: string[] = []
    return { port, lines, run: launch(port, lines) }
  })
  await Promise.all(starts.map(({ run }) => run.printed('Ready.')))
  const sql = openDatabase({ url, max: 2, name: 'test' })
  const { service, ...facts } = await readFacts(sql)
  tidying.note('instance', facts.instance)
  if (service !== null) tidying.note('service', service)
  const token = (await readFile(join(ground.dataDirectory, 'admin-token'), 'utf8')).trim()
  const members = starts.map(({ port, lines, run: first }, index): Member => {
    let run = first
    const end = (signal: NodeJS.Signals): Promise<Exit> => {
      run.child.kill(signal)
      return run.exit
    }
    return {
      name: `server ${index + 1}`,
      api: createCaller({ origin: `http://127.0.0.1:${port}`, token, tidying }),
      isRunning: () => run.child.exitCode === null && run.child.signalCode === null,
      output: lines,
      kill9: async () => void (await end('SIGKILL')),
      stop: () => end('SIGTERM'),
      begin: async ({ ready = true } = {}) => {
        run = launch(port, lines)
        if (ready) await run.printed('Ready.')
      },
    }
  })
  let turn = 0
  const api: ServerProcess['api'] = async (method, path, body) => {
    for (const member of [...members.keys()].map((index) => members[(turn + index) % members.length])) {
      if (!member?.isRunning()) continue
      turn++
      // A server that was killed or is starting refuses connections. Others do not.
      const reply = await member.api<never>(method, path, body).catch((error: unknown) => {
        if (error instanceof TypeError && Object(error.cause).code === 'ECONNREFUSED') return undefined
        throw error
      })
      if (reply) return reply
    }
    throw new Error(`${method} ${path}: no server accepts connections`)
  }
  const all = <T>(work: (member: Member) => Promise<T>): Promise<T[]> => Promise.all(members.map(work))
  const server: ServerProcess = {
    ...facts,
    dataDirectory: ground.dataDirectory,
    engine,
    apiUrl: `http://localhost:${ground.port}`,
    routerPort: ground.routerPort,
    token,
    sql,
    output,
    cuts: [],
    api,
    must: async (method, path, body) => {
      const reply = await api<never>(method, path, body)
      if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
      return reply.body
    },
    pid: () => 0,
    exited: () => Promise.reject(new Error('ask one of the members')),
    kill9: async () => void (await all((member) => member.kill9())),
    pause: () => {},
    resume: () => {},
    stop: async () => (await all((member) => member.stop()))[0] ?? { code: null, signal: null },
    restart: async () => {
      await all((member) => member.kill9())
      await all((member) => member.begin())
    },
    close: () => sql.end({ timeout: 1 }),
  }
  cleanup.after(() => server.close())
  return { members, server }
}
