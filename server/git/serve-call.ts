import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { startDeadline } from '../lib/deadline.ts'
import type { Logger } from '../lib/log.ts'
import type { PaceLimits } from '../lib/pace.ts'
import { runCgi } from './cgi.ts'
import type { EmptyRepositories } from './empty-repositories.ts'
import { gitEnvironment } from './environment.ts'
import { type ServicePath, serviceOf } from './git-path.ts'
import type { GitProgram } from './git-program.ts'
import type { HostLimits } from './host-limits.ts'
import { type Heads, readHeads } from './hosted-heads.ts'
import type { HostedRepositories } from './hosted-repositories.ts'
import { type PushCommands, readPushCommands, refusalPacket } from './push-commands.ts'
import type { PushRoom } from './push-room.ts'
import { watchPace } from './watch-pace.ts'

/** A call with checked rights; see `GitHost.handle`. */
export interface GitHostCall {
  /** The organization of the caller's token. */
  readonly organization: string
  readonly repository: string
  readonly servicePath: ServicePath
  /** Without "?". */
  readonly query: string
  readonly mayWrite: boolean
  /** The name of the caller for git's reflog. */
  readonly remoteUser: string
  /** The client's address, read through trusted proxies, for git's reflog. */
  readonly clientAddress: string
  /** The credential of the caller. Calls with the same one share its slots. */
  readonly callerId: string
}

/**
 * Is called before and after pushes, so that none is lost: the watcher looks for pushes that began
 * and never ended. `heads` reads the current branches.
 */
export interface PushWatch {
  /**
   * Called before git accepts anything. A rejection rejects the push. Returns a function that
   * records its end, once, and never rejects.
   */
  begin(push: {
    readonly organization: string
    readonly repository: string
    readonly pusher: string
    readonly heads: () => Promise<Heads>
  }): Promise<() => Promise<void>>
  /** Called after a repository was removed because no push stored anything in it. Never rejects. */
  forget(repository: { readonly organization: string; readonly repository: string }): Promise<void>
}

export interface CallServer {
  readonly repositories: HostedRepositories
  readonly empty: EmptyRepositories
  readonly program: GitProgram
  /** An empty directory as git's home. */
  readonly home: string
  readonly timeoutMs: number
  /** The lowest speed at which clients may send and read. */
  readonly pace: PaceLimits
  readonly limits: HostLimits
  readonly room: PushRoom
  readonly log: Logger
  readonly watch?: PushWatch | undefined
}

/** Pushes end with git's own clean-up, which the environment otherwise disables. */
const housekeeping = { 'gc.auto': '6700', 'maintenance.auto': 'true' }

/** One pack per push, so that its size is all that the push adds. git reads 0 as no limit. */
const receiving = (bytes: number): Record<string, string> => ({
  'receive.maxInputSize': String(Math.max(1, bytes)),
  'receive.unpackLimit': '1',
})

/** Answers one call of git's smart HTTP protocol. */
export async function serveCall(
  server: CallServer,
  request: IncomingMessage,
  response: ServerResponse,
  call: GitHostCall,
): Promise<void> {
  const { repositories, home, timeoutMs, log } = server
  const service = serviceOf(call.servicePath, request.method ?? '', call.query)
  const path = repositories.pathOf(call.organization, call.repository)
  const writes = service === 'git-receive-pack'
  if (service === undefined) return refuse(response, 403, 'Only the smart HTTP protocol of git is served here.')
  if (writes && !call.mayWrite) return refuse(response, 403, 'This token may read the repository but not push to it.')
  if (path === undefined || (!writes && !(await repositories.exists(path)))) {
    return refuse(response, 404, 'The repository does not exist.')
  }
  using tooSlow = watchPace(request, response, server.pace)
  const signal = startDeadline(timeoutMs, tooSlow.signal).signal
  const { organization, repository, remoteUser: pusher } = call
  const forget = async () => server.watch?.forget({ organization, repository })
  await using _held = writes ? await server.empty.hold(path, forget) : undefined
  if (writes && !(await repositories.exists(path))) {
    await server.room.checkNew(path, signal)
    await repositories.ensure(call.organization, call.repository)
  }
  const isPush = call.servicePath === '/git-receive-pack'
  // Read before the push is recorded, because the push may still be rejected.
  const commands = isPush
    ? await readPushCommands(request, { maxBytes: server.limits.commandBytes, signal })
    : undefined
  using room = commands ? await server.room.reserve(path, signal) : undefined
  if (commands && room && room.bytes === 0 && !commands.onlyDeletes) return refusePush(response, room.full, commands)
  const heads = (): Promise<Heads> => readHeads(server.program, path, { signal, timeoutMs })
  const endPush = isPush ? await server.watch?.begin({ organization, repository, pusher, heads }) : undefined
  const ended = await runCgi({
    request,
    response,
    program: 'git',
    args: ['http-backend'],
    environment: {
      ...gitEnvironment(home, undefined, { ...housekeeping, ...receiving(room?.bytes ?? 0) }),
      ...cgiEnvironment(request, call, service, path),
    },
    before: async () => {
      if (isPush) await followHead(server, path, signal)
      await endPush?.()
    },
    signal,
  }).finally(endPush)
  if (ended.exitCode !== 0) log.warn({ repository: path, ...ended }, 'git call failed')
}

export function refuse(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) return void response.end()
  const retry = status === 503 ? { 'retry-after': '5' } : {}
  // The body is not read, and nobody waits for the rest of it.
  const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close', ...retry }
  response.writeHead(status, headers).end(`${message}\n`)
}

/** Answers in git's own protocol, because git clients show only the status of a rejected POST. */
function refusePush(response: ServerResponse, message: string, commands: PushCommands): void {
  const headers = { 'content-type': 'application/x-git-receive-pack-result', connection: 'close' }
  response.writeHead(200, headers).end(refusalPacket(message, commands))
}

/**
 * A repository without a pushed main shows its master, or else its first branch, as the default.
 */
async function followHead(server: CallServer, gitDirectory: string, signal: AbortSignal): Promise<void> {
  const run = async (...args: string[]): Promise<string> =>
    (await server.program.run({ gitDirectory, args, signal, timeoutMs: server.timeoutMs })).stdout.toString()
  const refs = (await run('for-each-ref', '--format=%(refname)', 'refs/heads/')).split('\n').filter((ref) => ref !== '')
  const current = (await run('symbolic-ref', 'HEAD')).trim()
  const [first] = refs
  if (first === undefined || refs.includes(current)) return
  await run('symbolic-ref', 'HEAD', refs.find((ref) => ref === 'refs/heads/master') ?? first)
}

function cgiEnvironment(
  { headers, method }: IncomingMessage,
  call: GitHostCall,
  service: string,
  gitDirectory: string,
): Record<string, string> {
  const optional = {
    CONTENT_TYPE: headers['content-type'],
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    // Only the known form may go into an environment.
    GIT_PROTOCOL: /^version=[012]$/.exec(String(headers['git-protocol'] ?? ''))?.[0],
  }
  const given = Object.entries(optional).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return {
    ...Object.fromEntries(given),
    GIT_PROJECT_ROOT: join(gitDirectory, '..'),
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${call.repository}.git${call.servicePath}`,
    QUERY_STRING: call.servicePath === '/info/refs' ? `service=${service}` : '',
    REQUEST_METHOD: method ?? '',
    REMOTE_USER: call.remoteUser.replace(/[^\w.@-]/g, '_').slice(0, 100),
    REMOTE_ADDR: call.clientAddress,
  }
}
