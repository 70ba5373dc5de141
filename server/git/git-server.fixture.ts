/**
 * For the tests of this room: the built-in host behind a token check, a git client, and commits.
 */
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import {
  request as ask,
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { run } from '../lib/run.ts'
import { parseGitPath } from './git-path.ts'
import { createGitHost, type GitHost } from './host.ts'

export const organizationA = '01890000-0000-7000-8000-00000000000a'
export const organizationB = '01890000-0000-7000-8000-00000000000b'

const tokens: Readonly<Record<string, { organization: string; mayWrite: boolean }>> = {
  'token-of-a': { organization: organizationA, mayWrite: true },
  'reader-of-a': { organization: organizationA, mayWrite: false },
  'token-of-b': { organization: organizationB, mayWrite: true },
}

/** Creates a directory that is removed after the test. */
export async function scratchDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-git-'))
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}

/** Listens on loopback until the test ends, and returns the origin. */
export async function listen(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // The address of a TCP server is never a path.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/**
 * Sends a request on to the server at `origin`. Without `answerWith`, its answer is returned as it
 * is. If that server ends the connection, so does this one.
 */
export function sendOn(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  answerWith = (answer: IncomingMessage): void => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  },
): void {
  const { method, url, headers } = request
  const onward = ask(`${origin}${url}`, { method, headers, agent: false }, answerWith)
  onward.on('error', () => response.destroy())
  request.pipe(onward)
}

export interface HostServer {
  readonly origin: string
  readonly host: GitHost
  readonly directory: string
  /** Every request: method, path with query, Authorization header. */
  readonly requests: { readonly what: string; readonly authorization: string | undefined }[]
  /** The number of running calls of the host. */
  running(): number
}

/**
 * The built-in host behind a route as in production: Basic authentication with an API token as the
 * password.
 */
export async function startHost(
  t: TestContext,
  options: Omit<Parameters<typeof createGitHost>[0], 'directory'> = {},
): Promise<HostServer> {
  const directory = join(await scratchDirectory(t), 'repositories')
  await mkdir(directory)
  const host = createGitHost({ directory, ...options })
  const requests: HostServer['requests'] = []
  let running = 0
  const origin = await listen(t, (request, response) => {
    requests.push({ what: `${request.method} ${request.url}`, authorization: request.headers.authorization })
    running++
    void answer(host, request, response).finally(() => running--)
  })
  return { origin, host, directory, requests, running: () => running }
}

async function answer(host: GitHost, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [pathname = '', query = ''] = (request.url ?? '').split('?')
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? ''
  const callerId = Buffer.from(basic, 'base64').toString().split(':')[1] ?? ''
  const token = tokens[callerId]
  const path = parseGitPath(pathname)
  const end = (status: number): void =>
    void response.writeHead(status, { 'www-authenticate': 'Basic realm="git"' }).end()
  if (!token) return end(401)
  if (!path) return end(404)
  if (path.needsWrite(request.method ?? '', query) === undefined) return end(403)
  await host.handle(request, response, {
    ...path,
    ...token,
    query,
    remoteUser: 'test',
    clientAddress: '127.0.0.1',
    callerId,
  })
}

export const withToken = (url: string, token: string): string => url.replace('://', `://git:${token}@`)

/** Runs the git client of a user. Throws git's message if it fails. */
export async function git(cwd: string, ...args: string[]): Promise<string> {
  const identity = ['-c', 'user.name=Tester', '-c', 'user.email=tester@localhost', '-c', 'protocol.file.allow=always']
  const env = { HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' }
  const result = await run('git', [...identity, ...args], { cwd, env, timeoutMs: 60_000, stdin: '' })
  if (result.exitCode !== 0) throw new Error(`git ${args[0]}: ${result.stderr}`)
  return result.stdout.toString().trim()
}

/** Creates a repository with a work tree, on branch main, without a commit. */
export async function newWorkTree(t: TestContext): Promise<string> {
  const directory = await scratchDirectory(t)
  await git(directory, 'init', '--quiet', '--initial-branch=main')
  return directory
}

/** Writes files, commits everything and returns the commit id. */
export async function commit(
  workTree: string,
  files: Record<string, string | Buffer>,
  message = 'Change',
): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(workTree, path)), { recursive: true })
    await writeFile(join(workTree, path), content)
  }
  await git(workTree, 'add', '--all', '--force')
  await git(workTree, 'commit', '--quiet', '--allow-empty', '--message', message)
  return git(workTree, 'rev-parse', 'HEAD')
}

/** Returns the command lines of running programs that contain the text. */
export async function commandLines(text: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return lines.map((line) => line.replaceAll('\0', ' ')).filter((line) => line.includes(text))
}
