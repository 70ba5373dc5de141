import { mkdir } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { type Logger, silentLogger } from '../lib/log.ts'
import type { PaceLimits } from '../lib/pace.ts'
import { createShares } from '../lib/shares.ts'
import { createEmptyRepositories } from './empty-repositories.ts'
import { createGitProgram } from './git-program.ts'
import { defaultHostLimits, type HostLimits, PushRefused } from './host-limits.ts'
import { type Heads, readHeads } from './hosted-heads.ts'
import { createHostedRepositories } from './hosted-repositories.ts'
import { importDirectory } from './import-directory.ts'
import { createPushRoom, type OrganizationSpare } from './push-room.ts'
import { repositorySizes } from './repository-sizes.ts'
import { type GitHostCall, type PushWatch, refuse, serveCall } from './serve-call.ts'

export type { PushWatch } from './serve-call.ts'

/** Slower than any connection that people use git over. */
const usualPace: PaceLimits = { bytesPerSecond: 1024, graceMs: 20_000 }
const crowded = 'This token or its organization has too many git calls in progress. Try again in a few seconds.'

/**
 * The built-in git host: bare repositories, served over smart HTTP. A name is only unique within
 * its organization.
 */
export interface GitHost {
  /**
   * Answers one call with `git http-backend` and ends when it is answered. Before, the route must
   * have: authenticated the token; taken `organization` from the token and from nowhere else;
   * parsed the path with `parseGitPath` and refused where `needsWrite` is undefined; checked that
   * the token may read, and set `mayWrite` only where it may write; left the body of the request
   * unread. A missing repository is answered 404; a push makes it, and leaves none if nothing is
   * stored. Never rejects.
   */
  handle(request: IncomingMessage, response: ServerResponse, call: GitHostCall): Promise<void>
  /** Returns the path of the repository, whether or not it exists. Undefined for invalid names. */
  repositoryPath(organization: string, name: string): string | undefined
  /**
   * Creates an empty repository if it does not exist, and returns its path. Safe to run
   * concurrently. Throws for an invalid name.
   */
  ensure(organization: string, name: string): Promise<string>
  /** Returns the names of an organization's repositories, sorted. */
  names(organization: string): Promise<readonly string[]>
  /** Returns the current branches of a repository, or none if it does not exist. */
  heads(organization: string, name: string, signal: AbortSignal): Promise<Heads>
  /** Returns the bytes on disk of each organization's repositories. */
  sizes(signal: AbortSignal): Promise<ReadonlyMap<string, number>>
  /**
   * Commits the files of a directory to main unless main already contains them. Returns the commit
   * id of main.
   */
  importDirectory(organization: string, name: string, directory: string, message: string): Promise<string>
}

/**
 * `timeoutMs`: the limit of one call. `maxCalls`: concurrent calls, shared out among organizations
 * and their callers. Further calls get 503. `pace`: the lowest speed of a client. Slower ones are
 * disconnected.
 */
export function createGitHost(options: {
  readonly directory: string
  readonly timeoutMs?: number
  readonly maxCalls?: number
  readonly pace?: PaceLimits
  readonly limits?: Partial<HostLimits>
  readonly log?: Logger
  /** Called for pushes. */
  readonly watch?: PushWatch
  /**
   * The bytes that an organization may add in total. Without it only the limits of repositories
   * apply.
   */
  readonly spareOf?: OrganizationSpare
}): GitHost {
  const { directory, timeoutMs = 10 * 60_000, maxCalls = 64, pace = usualPace, log = silentLogger, watch } = options
  const home = join(directory, '.home')
  const program = createGitProgram(home)
  const repositories = createHostedRepositories(directory)
  const empty = createEmptyRepositories()
  const places = createShares(maxCalls)
  const limits = { ...defaultHostLimits, ...options.limits }
  const room = createPushRoom(program, limits, options.spareOf)

  return {
    repositoryPath: repositories.pathOf,
    ensure: repositories.ensure,
    names: repositories.names,
    async handle(request, response, call) {
      const leave = places.take([call.organization, call.callerId])
      if (!leave) return refuse(response, 503, crowded)
      try {
        await mkdir(home, { recursive: true, mode: 0o700 })
        await serveCall(
          { repositories, empty, program, home, timeoutMs, pace, limits, room, log, watch },
          request,
          response,
          call,
        )
      } catch (thrown) {
        if (thrown instanceof PushRefused) return refuse(response, 403, thrown.message)
        log.error({ err: thrown, repository: call.repository }, 'git call failed')
        refuse(response, 500, 'The git call failed.')
      } finally {
        leave()
      }
    },
    async heads(organization, name, signal) {
      const path = repositories.pathOf(organization, name)
      if (path === undefined || !(await repositories.exists(path))) return new Map()
      await mkdir(home, { recursive: true, mode: 0o700 })
      return readHeads(program, path, { signal, timeoutMs }).catch(async (error: unknown) => {
        if (await repositories.exists(path)) throw error
        return new Map()
      })
    },
    sizes: (signal) => repositorySizes(directory, signal),
    async importDirectory(organization, name, from, message) {
      await mkdir(home, { recursive: true, mode: 0o700 })
      const path = repositories.pathOf(organization, name)
      await using _held = path === undefined ? undefined : await empty.hold(path)
      const gitDirectory = await repositories.ensure(organization, name)
      return await importDirectory(program, {
        gitDirectory,
        directory: from,
        message,
        signal: AbortSignal.timeout(timeoutMs),
      })
    },
  }
}
