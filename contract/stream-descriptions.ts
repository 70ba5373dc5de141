import { eventData, eventStream } from './event-stream.ts'
import { pathParameters } from './operation.ts'
import { extensionMark } from './schema.ts'
import type { Json } from './share-schemas.ts'
import { Command, type Stream, type StreamPath, streamPaths, streams } from './streams.ts'

/** Describes streams in the OpenAPI document, which has no form for them. */

const tag = 'Streams'
const failure = (code: number): Json => ({ $ref: `#/components/responses/Failure${code}` })
const other = (description: string): Json => ({
  description,
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
})
const parameter = (where: 'query' | 'path' | 'header', name: string, required: boolean, schema: Json) => ({
  name,
  in: where,
  required,
  schema,
})

/** Returns the description of every stream by path and method. */
export const streamDescriptions = (): Record<string, Json> =>
  plain({
    [eventStream.path]: { get: describeEvents() },
    ...Object.fromEntries(streamPaths.map((path) => [path, { get: describeSocket(path, streams[path]) }])),
  })

/** Returns `streamServiceLogs` for `/service/logs`. */
const operationIdOf = (path: StreamPath): string =>
  `stream${path.replace(/\/(\w)/g, (_, first: string) => first.toUpperCase())}`

const closes = `A WebSocket. The ids in the query must belong together. Browsers offer the subprotocols \`v1\` and \`auth.bearer.<token>\`.
Close codes: 1000 the stream has ended; 1007 the query is invalid; 1008 not found, not permitted or not supported; 1011 connect again.`

function describeSocket(path: StreamPath, { summary, access, query, message, list, refuses }: Stream): Json {
  const named = Object.entries(query.properties).map(([name, schema]) =>
    parameter('query', name, query.required?.includes(name) === true, schema),
  )
  const listed = list === undefined ? [] : [parameter('query', list, false, Command.properties[list])]
  return {
    operationId: operationIdOf(path),
    tags: [tag],
    summary,
    description:
      `Requires the permission ${access.toUpperCase()}. ` +
      `${closes}${refuses ? ` Always closed with 1008: ${refuses}` : ''}`,
    parameters: [...named, ...listed],
    responses: { 101: upgraded(message), ...refusals },
  }
}

const upgraded = (message: Stream['message']): Json =>
  message === undefined
    ? { description: 'the connection: binary frames with raw bytes in both directions' }
    : {
        description: 'the connection: each text frame is one JSON value of this schema',
        content: { 'application/json': { schema: message } },
      }

/** Responses over HTTP, because no upgrade happened. */
const refusals: Readonly<Record<string, Json>> = {
  401: failure(401),
  403: other('the origin of the page is not allowed'),
  404: other('the request is not a WebSocket upgrade'),
  429: other('too many requests, or too many open streams'),
}

function describeEvents(): Json {
  const path = pathParameters(eventStream.path).map((name) =>
    parameter('path', name, true, { type: 'string', format: 'uuid' }),
  )
  const last = {
    ...parameter('header', 'Last-Event-ID', false, { type: 'string' }),
    description:
      'the id of the last event that the client received; later events are sent first; events are kept for a day',
  }
  return {
    operationId: 'streamOrganizationChanges',
    [extensionMark]: true,
    tags: [tag],
    summary: eventStream.summary,
    description:
      `Requires the permission ${eventStream.access.toUpperCase()}. Server-sent events until the client ` +
      `disconnects or loses the permission (\`end\`).`,
    parameters: [...path, last],
    responses: {
      200: {
        description: 'events; `x-quayside-events` has the schema of `data` for each type',
        content: { [eventStream.contentType]: { schema: { type: 'string' }, 'x-quayside-events': eventData } },
      },
      401: failure(401),
      403: failure(403),
      404: failure(404),
      429: failure(429),
    },
  }
}

/** Returns schemas as JSON, without the symbols of the library. */
const plain = (value: unknown): Record<string, Json> => JSON.parse(JSON.stringify(value))
