import { contract, type Operation, pathParameters } from '@quayside/contract'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { authorize, placeOf, type ReadCredential, type TargetQuery } from '../access/index.ts'
import { organizationOfCluster } from '../clusters/index.ts'
import type { Pulse } from '../database/index.ts'
import { AppError, notFound } from '../lib/error.ts'
import { noId, parseId } from '../lib/id.ts'
import { createAnswer } from './answer.ts'
import type { Budgets } from './budgets.ts'
import type { Handlers } from './call.ts'
import type { ChangeOptions } from './change.ts'
import { readClient } from './client.ts'
import { refuseWhileCopied } from './copying.ts'
import { authorizationOf, setRateHeaders } from './credential-headers.ts'
import { bodyReader } from './read-body.ts'
import type { Handle } from './reply.ts'
import { targetNoun } from './target-noun.ts'
import { queryValidator } from './validate.ts'

/** The command line sends this in place of the organization when it requests a kubeconfig. */
const unnamedOrganization = '00000000-0000-0000-000000000000'

export interface MountOptions extends ChangeOptions {
  readonly readCredential: ReadCredential
  readonly budgets: Budgets
  /** Returns how to find the target of an operation's path; undefined if it has no target. */
  readonly targetQuery: (operation: Operation) => TargetQuery | undefined
  /** If set, requests end with 503 while the database is unresponsive. */
  readonly pulse?: Pulse | undefined
}

/**
 * Mounts every operation of the contract as a route. All check in one order, so that no reply leaks
 * information: size and media type of the body (413, 415) → rate limit (429) → credential (401) →
 * target inside the caller's organization (404) → permission (403) → a change of a target that is
 * being copied (409) → query (400) → body (400) → handler. `test/contract/order.test.ts` checks it.
 */
export function mountContract(
  app: FastifyInstance,
  options: MountOptions,
  operations: Readonly<Record<string, Operation>> = contract,
): void {
  for (const operation of Object.values(operations)) mountOperation(app, operation, options)
}

function mountOperation(app: FastifyInstance, operation: Operation, options: MountOptions): void {
  const { method, path, status, maxBodyBytes } = operation
  app.route({
    method,
    ...(maxBodyBytes === undefined ? {} : { bodyLimit: maxBodyBytes }),
    url: path.replace(/\{(\w+)\}/g, ':$1'),
    schema:
      operation.reply['type'] === 'null' || operation.contentType ? {} : { response: { [status]: operation.reply } },
    config: isText(operation) ? { contentType: operation.contentType } : {},
    handler: heard(createHandler(operation, options), options.pulse),
  })
}

const heard = (handler: ReturnType<typeof createHandler>, pulse: Pulse | undefined): typeof handler =>
  pulse ? (request, reply) => pulse.whileHeard(() => handler(request, reply)) : handler

/** Whether the body is text, such as YAML. */
const isText = ({ body }: Operation): boolean => body?.type === 'string'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The media type of bodies of this route, if it is not JSON. */
    contentType?: Operation['contentType'] | undefined
  }
}

function createHandler(operation: Operation, options: MountOptions) {
  const { database, readCredential, budgets } = options
  const query = options.targetQuery(operation)
  if ((operation.target === 'caller') !== (query === undefined)) throw new Error(`${operation.path} has no target`)
  const { access, alsoAccess = 'read', owner = false, someMode = false, elsewhere = false, target } = operation
  const needs = { access, alsoAccess, owner, someMode, elsewhere, anybody: target === 'caller' }
  const noun = targetNoun(operation)
  const names = pathParameters(operation.path)
  const [first = ''] = names
  const others = operation.target === 'caller' ? names : names.slice(1)
  const readBody = bodyReader(operation)
  const validateQuery = operation.query && queryValidator(operation.query)
  // The types of the contract guarantee that the handler accepts these calls; see Handlers.
  const handler = operation.refuses
    ? refuse(operation.refuses)
    : (options.handlers[operation.handler as keyof Handlers] as unknown as Handle)
  if (!handler) throw new Error(`${operation.handler} has no handler`)
  const answer = createAnswer(operation, handler, options)
  let arrivals = 0

  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const arrival = ++arrivals
    const credential = await readCredential(authorizationOf(request))
    setRateHeaders(reply, budgets.take(credential, request.raw))
    // The router gives path parameters as strings.
    const params = request.params as Record<string, string>
    const clusterId = params['clusterId']
    const isUnnamed = operation.handler === 'getKubeconfig' && params[first] === unnamedOrganization
    const targetId = isUnnamed
      ? await organizationOfCluster(database, parseId(clusterId ?? '') ?? noId)
      : parseId(params[first] ?? '')
    // The message must not name the organization of another's cluster.
    const absent = (id?: string): AppError =>
      isUnnamed ? notFound('cluster', parseId(clusterId ?? '')) : notFound(noun, id)
    const wish = {
      ...needs,
      ...(query ? { query, targetId, absent } : {}),
      place: (target: Readonly<Record<string, unknown>>) =>
        placeOf(operation, target, clusterId && (parseId(clusterId) ?? noId)),
    }
    const authorized = await authorize(database, credential, wish)
    budgets.confirm(credential, authorized.caller.organizationId)
    refuseWhileCopied(operation, authorized.target)
    const ids = others.map((name) => parseId(params[name] ?? '') ?? noId)
    const call = {
      ...authorized,
      ids,
      kind: operation.kind,
      provider: operation.provider,
      words: params,
      client: readClient(request.headers, operation.shortStates),
      query: validateQuery?.(request.query),
      body: readBody(request),
    }
    return answer({ call, request, reply, arrival, reload: () => authorize(database, credential, wish) })
  }
}

const refuse = (reason: string) => async (): Promise<never> => {
  throw new AppError('invalid', reason)
}
