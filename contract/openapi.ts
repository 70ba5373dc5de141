import { contract } from './contract.ts'
import { type Operation, pathParameters } from './operation.ts'
import { ErrorBody } from './schema.ts'

type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }

const failures = {
  '400': 'the request is not valid; `message` names the field',
  '401': 'no token, or one that is not valid',
  '403': 'the token lacks the permission',
  '404': 'there is no such object, or it belongs to another organization',
  '409': 'the name is taken, or the state forbids the action',
  '429': 'too many requests; X-RateLimit-Reset and Retry-After say how many seconds to wait',
} as const

/** The OpenAPI 3.1 document of the whole contract. */
export function openApi(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {}
  for (const [operationId, operation] of Object.entries<Operation>(contract)) {
    const path = paths[operation.path] ?? {}
    path[operation.method.toLowerCase()] = describe(operationId, operation)
    paths[operation.path] = path
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quayside',
      version,
      description: 'A git repository goes in, something that answers on a URL comes out.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { token: [] }],
    paths,
    components: {
      schemas: { Error: plain(ErrorBody) },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'an API token or a JWT' },
        token: { type: 'apiKey', in: 'header', name: 'Authorization', description: '`Token <API token>`' },
      },
    },
  }
}

function describe(operationId: string, operation: Operation): Json {
  const query = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: plain(schema),
  }))
  const path = pathParameters(operation.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  }))
  return {
    operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: `Needs the permission ${operation.access.toUpperCase()}.`,
    parameters: [...path, ...query],
    requestBody: operation.body && {
      required: (relaxed(operation.body).required ?? []).length > 0,
      content: { 'application/json': { schema: plain(relaxed(operation.body)) } },
    },
    responses: { [operation.status]: success(operation), ...failureResponses(operation) },
  }
}

function success(operation: Operation): Json {
  if (operation.status === 204) return { description: 'done' }
  return { description: 'done', content: { 'application/json': { schema: plain(operation.reply) } } }
}

function failureResponses(operation: Operation): Record<string, Json> {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } }
  const codes = Object.entries(failures).filter(([code]) => code !== '400' || operation.body || operation.query)
  return Object.fromEntries(codes.map(([code, description]) => [code, { description, content }]))
}

/** A property with a default need not be sent. */
function relaxed(body: NonNullable<Operation['body']>): { required?: string[] } {
  const required = (body.required ?? []).filter((name) => !('default' in (body.properties[name] ?? {})))
  return { ...body, required }
}

/** The schema as JSON: without the symbols that the library keeps in it. */
const plain = (schema: unknown): Json => JSON.parse(JSON.stringify(schema))
