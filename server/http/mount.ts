import { contract, type Operation, pathParameters } from '@quayside/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, type ReadCredential, type TargetQuery } from '../access/index.ts'
import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { parseId } from '../lib/id.ts'
import type { Budgets } from './budgets.ts'
import type { Handlers } from './call.ts'
import { readClient } from './client.ts'
import { countHeader } from './count-header.ts'
import type { Verdict } from './rate-limit.ts'
import { parseStrictJson } from './strict-json.ts'
import { bodyValidator, queryValidator, type Validate } from './validate.ts'

/** Stands for an id that has no valid form: nothing has it, so it is answered like any other that is unknown. */
const noId = '00000000-0000-0000-0000-000000000000'

export interface MountOptions {
  readonly database: Database
  readonly readCredential: ReadCredential
  readonly budgets: Budgets
  readonly handlers: Handlers
  /** How the target that an operation's path names is found; undefined for operations without one. */
  readonly targetQuery: (operation: Operation) => TargetQuery | undefined
}

/**
 * Every operation of the contract as a route. The order is the same for all, so that answers leak nothing: rate limit →
 * credential (401) → target inside the caller's organization (404) → permission (403) → body and query (400) → handler.
 */
export function mountContract(app: FastifyInstance, options: MountOptions): void {
  for (const operation of Object.values<Operation>(contract)) mountOperation(app, operation, options)
}

function mountOperation(app: FastifyInstance, operation: Operation, options: MountOptions): void {
  const { method, path, status } = operation
  app.route({
    method,
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    schema:
      operation.reply['type'] === 'null' || operation.contentType ? {} : { response: { [status]: operation.reply } },
    handler: createHandler(operation, options),
  })
}

function createHandler(operation: Operation, options: MountOptions) {
  const { database, readCredential, budgets } = options
  const query = options.targetQuery(operation)
  if ((operation.target === 'caller') !== (query === undefined)) throw new Error(`${operation.path} has no target`)
  const [first = '', ...others] = pathParameters(operation.path)
  const validateBody = operation.body && bodyValidator(operation.body)
  const validateQuery = operation.query && queryValidator(operation.query)
  // The contract's types guarantee that this handler takes what this operation gives: see Handlers.
  const handler = options.handlers[operation.handler as keyof Handlers] as (call: object) => Promise<unknown>
  if (!handler) throw new Error(`${operation.handler} has no handler`)

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const credential = await readCredential(authorizationOf(request))
    setRateHeaders(reply, budgets.take(credential, request.ip))
    // Path parameters are text: the router gives them so.
    const params = request.params as Record<string, string>
    const authorized = await authorize(database, credential, {
      access: operation.access,
      ...(query ? { query, targetId: parseId(params[first] ?? '') } : {}),
    })
    budgets.confirm(credential)
    const ids = others.map((name) => parseId(params[name] ?? '') ?? noId)
    const result = await handler({
      ...authorized,
      ids,
      kind: operation.kind,
      client: readClient(request.headers),
      query: validateQuery?.(request.query),
      body: validateBody && readBody(request, validateBody),
    })
    if (result === undefined) return reply.code(operation.reply['type'] === 'null' ? operation.status : 204).send()
    if (operation.contentType) reply.type(operation.contentType)
    return reply.code(operation.status).send(result)
  }
}

/** One header: with two, which one counts would be a guess. */
function authorizationOf(request: FastifyRequest): string | undefined {
  if (countHeader(request.raw.rawHeaders, 'authorization') > 1) {
    throw new AppError('invalid', 'The header Authorization must be sent once.')
  }
  return request.headers.authorization
}

function setRateHeaders(reply: FastifyReply, verdict: Verdict): void {
  reply.header('x-ratelimit-limit', verdict.limit)
  reply.header('x-ratelimit-remaining', verdict.remaining)
  reply.header('x-ratelimit-reset', verdict.resetSeconds)
  if (verdict.allowed) return
  const seconds = Math.max(1, verdict.resetSeconds)
  reply.header('x-ratelimit-reset', seconds).header('retry-after', seconds)
  throw new AppError('tooManyRequests', `Too many requests; try again in ${seconds} s.`)
}

/** An absent body counts as `{}`: what is required and missing is named then. */
function readBody(request: FastifyRequest, validate: Validate): unknown {
  const bytes = request.body
  const value = Buffer.isBuffer(bytes) && bytes.length > 0 ? parseStrictJson(bytes) : {}
  return validate(value)
}
