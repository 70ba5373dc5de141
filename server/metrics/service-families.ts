import { bucketCount, countAt, latencyBoundsMs } from '@quayside/contract/traffic-counts.ts'
import type { EnvironmentMode } from '../organizations/index.ts'
import type { Family, Labels, Sample } from './exposition.ts'

/** All traffic of a service since it exists, with the names of its place. */
export interface ServiceTotal {
  readonly organization_id: string
  readonly organization: string
  readonly project_id: string
  readonly project: string
  readonly environment_id: string
  readonly environment: string
  readonly mode: EnvironmentMode
  readonly service_id: string
  readonly service: string
  readonly kind: string
  readonly counts: readonly number[]
}

const classes = ['1xx', '2xx', '3xx', '4xx', '5xx']

/** Pure: returns the families about the traffic of services. */
export function serviceFamilies(totals: readonly ServiceTotal[]): readonly Family[] {
  const named = totals.map((total) => [labelsOf(total), total.counts] as const)
  const each = (samplesOf: (labels: Labels, counts: readonly number[]) => readonly Sample[]): readonly Sample[] =>
    named.flatMap(([labels, counts]) => samplesOf(labels, counts))
  const one = (name: string, help: string, position: number): Family => ({
    name: `quayside_service_${name}`,
    help,
    type: 'counter',
    samples: each((labels, counts) => [{ labels, value: counts[position] ?? 0 }]),
  })
  return [
    {
      name: 'quayside_service_info',
      help: 'Ids and names of a service with traffic.',
      type: 'gauge',
      samples: totals.map(({ counts: _, ...labels }) => ({ labels, value: 1 })),
    },
    {
      name: 'quayside_service_requests_total',
      help: 'Requests by the class of their status.',
      type: 'counter',
      samples: each((labels, counts) =>
        classes.map((status, index) => ({ labels, own: { status }, value: counts[index] ?? 0 })),
      ),
    },
    one('router_answers_total', 'Requests that the router refused, could not pass on or broke off.', countAt.own),
    one('connections_total', 'Connections of TCP ports and clients of UDP ports.', countAt.connections),
    one('received_bytes_total', 'Bytes from clients.', countAt.bytesIn),
    one('sent_bytes_total', 'Bytes to clients.', countAt.bytesOut),
    {
      name: 'quayside_service_first_byte_seconds',
      help: 'Time to the first byte of a response.',
      type: 'summary',
      samples: each((labels, counts) => ends(labels, counts, countAt.firstByte, countAt.firstByteMs)),
    },
    {
      name: 'quayside_service_request_duration_seconds',
      help: 'Time to the last byte of a response.',
      type: 'histogram',
      samples: each((labels, counts) => [
        ...buckets(labels, counts.slice(countAt.whole, countAt.whole + bucketCount)),
        ...ends(labels, counts, countAt.whole, countAt.wholeMs),
      ]),
    },
  ]
}

const labelsOf = ({ organization, project, environment, service, service_id }: ServiceTotal): Labels => ({
  organization,
  project,
  environment,
  service,
  service_id,
})

/** The buckets of Prometheus include all smaller ones. */
function buckets(labels: Labels, counts: readonly number[]): readonly Sample[] {
  let sum = 0
  return counts.map((count, index) => {
    sum += count
    const bound = latencyBoundsMs[index]
    return {
      suffix: '_bucket',
      labels,
      own: { le: bound === undefined ? '+Inf' : String(bound / 1000) },
      value: sum,
    }
  })
}

function ends(labels: Labels, counts: readonly number[], histogram: number, sumMs: number): readonly Sample[] {
  const count = counts.slice(histogram, histogram + bucketCount).reduce((sum, one) => sum + one, 0)
  return [
    { suffix: '_sum', labels, value: (counts[sumMs] ?? 0) / 1000 },
    { suffix: '_count', labels, value: count },
  ]
}
