import { contract } from './contract.ts'
import { exampleOf } from './example.ts'
import { type Operation, pathParameters, requiredMembers } from './operation.ts'
import { ErrorBody, extensionMark } from './schema.ts'
import { type Json, shareSchemas } from './share-schemas.ts'
import { streamDescriptions } from './stream-descriptions.ts'

const failures = {
  '400': 'the request is not valid; `message` names the field',
  '401': 'no token, or one that is not valid',
  '403': 'the token lacks the permission',
  '404': 'there is no such object, or it belongs to another organization',
  '409': 'the name is taken, or the state forbids the action',
  '412': 'it was changed since it was read: If-Match does not have its ETag',
  '429': 'too many requests; X-RateLimit-Reset and Retry-After say how many seconds to wait',
} as const

/** The OpenAPI 3.1 document of the whole contract. What several operations have in common stands in it once. */
export function openApi(version: string): Json {
  const { paths, schemas } = shareSchemas({ ...plainPaths(), ...streamDescriptions() })
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const failing = Object.entries(failures).map(([code, description]) => [`Failure${code}`, { description, content }])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quayside',
      version,
      description:
        'A git repository goes in, something that answers on a URL comes out. What is marked `x-quayside-extension` is not of the public API that this one follows.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { token: [] }],
    paths,
    components: {
      schemas: { Error: plain(ErrorBody), ...schemas },
      responses: Object.fromEntries(failing),
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'an API token or a JWT' },
        token: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Token <API token>`' },
      },
    },
  }
}

/** Every operation by its path and method, whole where it stands. */
export function plainPaths(): Record<string, Json> {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, operation] of Object.entries<Operation>(contract)) {
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
    description: `Needs the permission ${operation.access.toUpperCase()}.${operation.refuses ? ` Always answers 400: ${operation.refuses}` : ''}`,
    parameters: [...path, ...query, ...headersOf(operation)],
    requestBody: operation.body && requestBody(operation.body, operation.contentType),
    responses: { [operation.status]: success(operation), ...failureResponses(operation) },
  }
}

/** What every write takes beside its body. */
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
    ? [header('Idempotency-Key', 'the same request with the same key is done once; kept for a day')]
    : [header('If-Match', 'the ETag that GET of this address gave: 412 when it was changed since')]
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

function failureResponses(operation: Operation): Record<string, Json> {
  const isPossible: Readonly<Record<string, unknown>> = {
    '400': operation.body ?? operation.query ?? operation.refuses,
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

/** The schema as JSON: without the symbols that the library keeps in it. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))
