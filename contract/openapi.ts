import { contract } from './contract.ts'
import { exampleOf } from './example.ts'
import { type Operation, pathParameters, requiredMembers } from './operation.ts'
import { ErrorBody, extensionMark } from './schema.ts'
import { type Json, shareSchemas } from './share-schemas.ts'
import { streamDescriptions } from './stream-descriptions.ts'
import { streamPaths } from './streams.ts'

const failures = {
  '400': 'the request is invalid; `message` names the field',
  '401': 'the token is missing or invalid',
  '403': 'the token lacks the permission',
  '404': 'the object does not exist, or belongs to another organization',
  '409': 'the name is taken, or the state forbids the action',
  '413': 'the body is too large',
  '415': 'the body is compressed or has an unsupported type',
  '431': 'the headers are too large',
  '412': 'the object has changed since it was read: If-Match is not its ETag',
  '429': 'too many requests; X-RateLimit-Reset and Retry-After have the seconds to wait',
} as const

const otherFailures =
  'a failure that does not depend on the operation: 408 the request was too slow, 414 the URL is too long, ' +
  '421 wrong host name, 500 internal error, 503 temporarily unavailable'

/**
 * The key of the WebSockets. OpenAPI has no form for them: among the paths, generators would turn
 * them into plain calls.
 */
export const socketsMark = 'x-quayside-websockets'

export interface OpenApiOptions {
  /**
   * Describes WebSockets among the paths, for people. Otherwise they are below `socketsMark`, which
   * generators ignore.
   */
  readonly socketsAmongPaths?: boolean
}

/** Returns the OpenAPI 3.1 document of the whole contract. Shared parts are written once. */
export function openApi(version: string, { socketsAmongPaths = false }: OpenApiOptions = {}): Json {
  const { paths: all, schemas } = shareSchemas({ ...plainPaths(), ...streamDescriptions() })
  const isSocket = ([path]: readonly [string, Json]): boolean => streamPaths.some((one) => one === path)
  const described = Object.entries<Json>(Object(all))
  const paths = Object.fromEntries(socketsAmongPaths ? described : described.filter((entry) => !isSocket(entry)))
  const sockets = socketsAmongPaths ? {} : { [socketsMark]: Object.fromEntries(described.filter(isSocket)) }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const failing = Object.entries(failures).map(([code, description]) => [`Failure${code}`, { description, content }])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quayside',
      version,
      description:
        'A self-hosted deployment platform: it turns a git repository into a service with a URL. ' +
        '`x-quayside-extension` marks what the public API that this one follows does not have.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { token: [] }],
    paths,
    ...sockets,
    components: {
      schemas: { Error: plain(ErrorBody), ...schemas },
      responses: { ...Object.fromEntries(failing), FailureOther: { description: otherFailures, content } },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'an API token or a JWT' },
        token: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Token <API token>`' },
      },
    },
  }
}

/** Returns operations by path and method, without shared parts. */
export function plainPaths(operations: Readonly<Record<string, Operation>> = contract): Record<string, Json> {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, operation] of Object.entries(operations)) {
    const path = paths[operation.path] ?? {}
    path[operation.method.toLowerCase()] = plain(describe(operationId, operation))
    paths[operation.path] = path
  }
  return paths
}

function describe(operationId: string, operation: Operation): Json {
  const query = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: operation.query?.required?.includes(name) === true,
    [extensionMark]: schema[extensionMark],
    schema: plain(schema),
  }))
  const path = pathParameters(operation.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', ...(name.endsWith('Id') ? { format: 'uuid' } : {}) },
  }))
  return {
    operationId,
    [extensionMark]: operation.extension,
    tags: [operation.tag],
    summary: operation.summary,
    description:
      'Requires the permission ' +
      `${operation.access.toUpperCase()}.${operation.refuses ? ` Always answers 400: ${operation.refuses}` : ''}`,
    parameters: [...path, ...query, ...headersOf(operation)],
    requestBody: operation.body && requestBody(operation.body, operation.contentType),
    responses: {
      [operation.status]: success(operation),
      ...otherSuccesses(operation),
      ...failureResponses(operation),
      default: { $ref: '#/components/responses/FailureOther' },
    },
  }
}

/** Returns the optional headers of a write. */
function headersOf({ method, event }: Operation): Json[] {
  const header = (name: string, description: string): Json => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: { type: 'string' },
  })
  if (!event) return []
  return method === 'POST'
    ? [header('Idempotency-Key', 'a repeated request with the same key is performed once; keys are kept for a day')]
    : [header('If-Match', 'the ETag from GET of this URL; 412 if the object has changed since')]
}

function success(operation: Operation): Json {
  if (operation.status === 204) return { description: 'done' }
  if (operation.reply['type'] === 'null') return { description: 'done' }
  const schema = plain(operation.reply)
  const { contentType } = operation
  const content = contentType
    ? { [contentType]: { schema } }
    : { 'application/json': { schema, example: plain(exampleOf(operation.reply)) } }
  return { description: 'done', content }
}

/**
 * Returns whether the response has an ETag, because a PUT or DELETE of the same URL changes the
 * object.
 */
const isVersioned = ({ method, path, target, kind, refuses }: Operation): boolean =>
  method === 'GET' &&
  refuses === undefined &&
  Object.values<Operation>(contract).some(
    (other) =>
      (other.method === 'PUT' || other.method === 'DELETE') &&
      other.path === path &&
      other.target === target &&
      other.kind === kind,
  )

function otherSuccesses(operation: Operation): Record<string, Json> {
  const plan = operation.plan && {
    description: 'the plan, with `dry_run=true`',
    content: { 'application/json': { schema: plain(operation.plan) } },
  }
  return {
    ...(plan ? { '200': plan } : {}),
    ...(operation.mayBeEmpty ? { '204': { description: 'nothing to do' } } : {}),
    ...(isVersioned(operation) ? { '304': { description: 'the object still has the ETag in If-None-Match' } } : {}),
  }
}

function failureResponses(operation: Operation): Record<string, Json> {
  const isPossible: Readonly<Record<string, unknown>> = {
    '413': operation.method !== 'GET',
    '415': operation.method !== 'GET',
    '412': operation.event && operation.method !== 'POST',
  }
  const codes = Object.keys(failures).filter((code) => !(code in isPossible) || isPossible[code])
  return Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/responses/Failure${code}` }]))
}

function requestBody(body: NonNullable<Operation['body']>, contentType = 'application/json'): Json {
  if (body.type === 'string') return { required: true, content: { [contentType]: { schema: plain(body) } } }
  const schema = { ...body, required: requiredMembers(body) }
  return {
    required: schema.required.length > 0,
    content: { 'application/json': { schema: plain(schema), example: plain(exampleOf(body)) } },
  }
}

/** Returns the schema as JSON, without the symbols of the library. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))
