import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
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

/** A call whose rights have been checked; see `GitHost.handle`. */
export interface GitHostCall {
  /** The organization of the caller's token. */
  readonly organization: string
  readonly repository: string
  readonly servicePath: ServicePath
  /** Without "?". */
  readonly query: string
  readonly mayWrite: boolean
  /** Who it is, for git's own record. */
  readonly remoteUser: string
  /** The client's address, seen through trusted proxies; for git's own record. */
  readonly clientAddress: string
  /** The credential of the caller: calls of the same one share its places. */
  readonly callerId: string
}

/**
 * Is told of pushes before and after, so that none can be lost: what was begun and never ended is looked for by whoever watches.
 * `heads` reads the branches as they are when it is called.
 */
export interface PushWatch {
  /** Before git takes anything in; a rejection refuses the push. Gives what ends it: does so once, and never rejects. */
  begin(push: {
    readonly organization: string
    readonly repository: string
    readonly pusher: string
    readonly heads: () => Promise<Heads>
  }): Promise<() => Promise<void>>
  /** Is told that a repository was removed because no push stored anything in it. Never rejects. */
  forget(repository: { readonly organization: string; readonly repository: string }): Promise<void>
}

export interface CallServer {
  readonly repositories: HostedRepositories
  readonly empty: EmptyRepositories
  readonly program: GitProgram
  /** An empty directory for git to be at home in. */
  readonly home: string
  readonly timeoutMs: number
  /** How fast clients must send and read. */
  readonly pace: PaceLimits
  readonly limits: HostLimits
  readonly room: PushRoom
  readonly log: Logger
  readonly watch?: PushWatch | undefined
}

/** Pushes end with git's own tidying up, which the environment otherwise turns off. */
const housekeeping = { 'gc.auto': '6700', 'maintenance.auto': 'true' }

/** One pack a push, so that its size is all that it adds; git takes 0 for no limit. */
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
    return refuse(response, 404, 'There is no such repository.')
  }
  using tooSlow = watchPace(request, response, server.pace)
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), tooSlow.signal])
  const { organization, repository, remoteUser: pusher } = call
  const forget = async () => server.watch?.forget({ organization, repository })
  await using _held = writes ? await server.empty.hold(path, forget) : undefined
  if (writes && !(await repositories.exists(path))) {
    await server.room.checkNew(path, signal)
    await repositories.ensure(call.organization, call.repository)
  }
  const isPush = call.servicePath === '/git-receive-pack'
  // Read before anything is written down of the push: it may be refused.
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

/** In the words of git's own protocol: of a refused POST, git clients show the status alone. */
function refusePush(response: ServerResponse, message: string, commands: PushCommands): void {
  const headers = { 'content-type': 'application/x-git-receive-pack-result', connection: 'close' }
  response.writeHead(200, headers).end(refusalPacket(message, commands))
}

/** A repository whose main was never pushed to shows its master, or else its first branch, as the default. */
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
    // Anything else than the known form has no business in an environment.
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
