import { differsByPlace, mayUseRepository, type Place } from '@quayside/contract/roles.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type ReadCredential } from '../access/index.ts'
import { type Database, withOwner } from '../database/index.ts'
import { type GitHost, parseGitPath, repositoryNameRule } from '../git/index.ts'
import { AppError, budgetSpent, errorCodes, notFound } from '../lib/error.ts'
import type { Budgets } from './budgets.ts'

/** The parts of server/git and of other rooms that this route uses. */
export interface GitRouteOptions {
  readonly database: Database
  readonly readCredential: ReadCredential
  readonly budgets: Budgets
  readonly gitHost: Pick<GitHost, 'handle'>
  /** Returns the environments whose services use a repository of the git host. */
  readonly placesOfRepository: (organizationId: string, repository: string) => Promise<Place[]>
}

/**
 * Mounts `<public URL>/git/<repository>.git`. Basic authentication takes any user name, and an API
 * token as the password.
 */
export function mountGit(app: FastifyInstance, options: GitRouteOptions): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Only git reads the body.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.route({
      method: ['GET', 'POST'],
      url: '/git/*',
      exposeHeadRoute: false,
      handler: (request, reply) => handle(options, request, reply),
      // git shows error messages to people only if they are plain text.
      errorHandler: (error, _request, reply) => {
        if (!(error instanceof AppError)) throw error
        // The body is not read. A client that continues to send it loses its connection.
        reply.header('connection', 'close')
        if (error.code === 'unauthorized') reply.header('www-authenticate', 'Basic realm="git"')
        if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
        return reply.code(errorCodes[error.code].status).type('text/plain; charset=utf-8').send(`${error.message}\n`)
      },
    })
  })
}

async function handle(options: GitRouteOptions, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { database, readCredential, budgets, gitHost } = options
  const [pathname = '', query = ''] = request.url.split('?', 2)
  const path = parseGitPath(pathname)
  const needsWrite = path?.needsWrite(request.method, query)
  const credential = await readCredential(tokenOf(request.headers.authorization))
  const verdict = budgets.take(credential, request.raw)
  if (!verdict.allowed) throw budgetSpent(verdict.resetSeconds)
  const { caller } = await authorize(database, credential, { access: 'read' })
  budgets.confirm(credential, caller.organizationId)
  if (!path)
    throw notFound('repository', undefined, { advice: `Its address ends with /git/<name>.git. ${repositoryNameRule}` })
  if (needsWrite === undefined) throw noRepository()
  const { repository, servicePath } = path
  const organization = caller.organizationId
  const placesOf = () => options.placesOfRepository(organization, repository)
  const usedAt = differsByPlace(caller.rights) ? await withOwner(organization, placesOf) : []
  const mayWrite = mayUseRepository(caller.rights, 'write', usedAt)
  if (needsWrite && !mayWrite) throw new AppError('forbidden', pushText)
  if (!needsWrite && !mayUseRepository(caller.rights, 'read', usedAt)) throw noRepository()
  reply.hijack()
  await gitHost.handle(request.raw, reply.raw, {
    organization,
    repository,
    servicePath,
    query,
    mayWrite,
    remoteUser: caller.name,
    clientAddress: budgets.addressOf(request.raw),
    callerId: caller.id,
  })
}

/** The same error for a missing repository and for one that the caller may not read. */
const noRepository = (): AppError => notFound('repository')

const pushText =
  'A push needs WRITE in every environment with a service that uses the repository, or in every project ' +
  'if no service uses it. The token lacks it.'

/**
 * Returns the password of Basic authentication as a Bearer credential. It accepts only canonical
 * base64. Other schemes are returned unchanged.
 */
function tokenOf(authorization: string | undefined): string | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/=]+)$/i.exec(authorization ?? '') ?? []
  if (encoded === undefined) return authorization
  const bytes = Buffer.from(encoded, 'base64')
  if (bytes.toString('base64') !== encoded) return undefined
  const text = bytes.toString()
  return `Bearer ${text.slice(text.indexOf(':') + 1)}`
}
