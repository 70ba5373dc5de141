import { operation } from '../operation.ts'
import { Integer, Nullable, Text, Timestamp, Type, Uuid } from '../schema.ts'

const Latency = Nullable(
  Type.Object({ p50_ms: Type.Number(), p95_ms: Type.Number(), p99_ms: Type.Number(), average_ms: Type.Number() }),
)

const figures = {
  requests: Type.Integer(),
  status_1xx: Type.Integer(),
  status_2xx: Type.Integer(),
  status_3xx: Type.Integer(),
  status_4xx: Type.Integer(),
  status_5xx: Type.Integer(),
  answered_by_router: Type.Integer({
    description:
      'requests of these classes that the router refused, could not pass on, or whose answer was broken off; a ' +
      'client that left before the answer counts as 4xx',
  }),
  connections: Type.Integer({ description: 'connections of TCP ports, and clients of UDP ports' }),
  bytes_in: Type.Integer({ description: 'from clients, with streams that have not ended' }),
  bytes_out: Type.Integer(),
  first_byte: Latency,
  duration: Latency,
}

const Figures = Type.Object(figures)

/** The numbers of one service. Every step of the range has a point, also without traffic. */
const ServiceTraffic = Type.Object({
  from: Timestamp,
  to: Timestamp,
  step_seconds: Type.Integer(),
  total: Figures,
  points: Type.Array(Type.Object({ at: Timestamp, ...figures })),
})

const EnvironmentTraffic = Type.Object({
  from: Timestamp,
  to: Timestamp,
  results: Type.Array(Type.Object({ service_id: Uuid, ...figures })),
})

const read = { method: 'GET', access: 'read', extension: true, status: 200 } as const
const moment = Type.Optional(Text(40, 1))

export const trafficOperations = {
  getServiceTraffic: operation({
    ...read,
    path: '/service/{serviceId}/traffic',
    target: 'service',
    tag: 'Traffic',
    handler: 'getServiceTraffic',
    summary:
      'Returns requests, status classes, latencies and bytes of a service, of the last hour by default and of at ' +
      'most 30 days. `step` is in seconds; numbers are kept by minute for two hours, by ten minutes for a day, by ' +
      'hour for a week, then by four hours. The step of the answer may be longer than the wanted one.',
    query: Type.Object({
      fromTimestamp: moment,
      toTimestamp: moment,
      step: Type.Optional(Integer(1, 31 * 24 * 3600)),
    }),
    reply: ServiceTraffic,
  }),
  getOrganizationMetrics: operation({
    ...read,
    path: '/organization/{organizationId}/metrics',
    target: 'organization',
    tag: 'Traffic',
    handler: 'getOrganizationMetrics',
    summary:
      'Returns the traffic of the services that the caller may read, since they exist, in the text format of ' +
      'Prometheus. At most 5,000 services.',
    reply: Type.String(),
    contentType: 'text/plain',
  }),
  listEnvironmentTraffic: operation({
    ...read,
    path: '/environment/{environmentId}/traffic',
    target: 'environment',
    tag: 'Traffic',
    handler: 'listEnvironmentTraffic',
    summary: 'Returns the numbers of the last five minutes of each service of an environment that had traffic.',
    reply: EnvironmentTraffic,
  }),
} as const
