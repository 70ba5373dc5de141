import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import {
  type ServiceTraffic as Numbers,
  serviceTraffic,
  type TrafficRange,
  trafficRanges,
} from '../../api/reads-traffic.ts'
import { amount, errorPercent, milliseconds, percent, trafficLines } from '../../api/traffic-figures.ts'
import { bytes } from '../../ui/amounts.ts'
import { Empty, Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { TimeChart } from '../../ui/TimeChart.tsx'
import styles from './ServiceTraffic.module.css'

const place = '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/metrics'
const aSecond = (value: number): string => `${amount(value)} /s`
const bytesASecond = (value: number): string => `${bytes(Math.round(value))}/s`

/** The requests, failures, latencies and bytes of a service over a range that the address has. */
export function ServiceTraffic({ serviceId }: { readonly serviceId: string }) {
  const { range = '1h' } = useSearch({ from: place })
  const { data, error } = useQuery({ ...serviceTraffic(serviceId, range), placeholderData: keepPreviousData })
  const lines = useMemo(() => data && trafficLines(data, Date.now() / 1000), [data])
  return (
    <Section title="Traffic" actions={<Ranges />}>
      <Problem error={error} />
      {!data && !error && <p role="status">Reading the numbers …</p>}
      {data && <Totals total={data.total} />}
      {data && data.total.requests + data.total.connections === 0 && (
        <Empty>No request in the last {trafficRanges[range].words}. Numbers appear ten seconds after a request.</Empty>
      )}
      {lines && data && data.total.requests + data.total.connections > 0 && (
        <div className={styles['charts']}>
          <TimeChart
            title="Requests"
            times={lines.times}
            lines={[{ name: 'requests', values: lines.requests }]}
            format={aSecond}
          />
          <TimeChart
            title="Errors"
            isBad
            times={lines.times}
            lines={[{ name: 'status of 500 and more', values: lines.errors }]}
            format={percent}
          />
          <TimeChart
            title="Response time"
            times={lines.times}
            lines={[
              { name: 'p50', values: lines.p50 },
              { name: 'p95', values: lines.p95 },
              { name: 'p99', values: lines.p99 },
            ]}
            format={milliseconds}
          />
          <TimeChart
            title="Bytes"
            isBinary
            times={lines.times}
            lines={[
              { name: 'out', values: lines.bytesOut },
              { name: 'in', values: lines.bytesIn },
            ]}
            format={bytesASecond}
          />
        </div>
      )}
    </Section>
  )
}

function Ranges() {
  const params = useParams({ from: place })
  const ranges = Object.keys(trafficRanges) as TrafficRange[]
  return (
    <nav className={styles['ranges']} aria-label="Time range">
      {ranges.map((range) => (
        <Link
          key={range}
          to={place}
          params={params}
          search={range === '1h' ? {} : { range }}
          replace
          resetScroll={false}
          activeOptions={{ exact: true }}
        >
          {trafficRanges[range].short}
        </Link>
      ))}
    </nav>
  )
}

function Totals({ total }: Pick<Numbers, 'total'>) {
  const facts = [
    ['Requests', total.requests.toLocaleString('en')],
    ['Errors', percent(errorPercent(total))],
    ['95 % answered within', total.duration ? milliseconds(total.duration.p95_ms) : '–'],
    ['Sent', bytes(total.bytes_out)],
    ['Received', bytes(total.bytes_in)],
    ...(total.connections > 0 ? [['Connections', total.connections.toLocaleString('en')]] : []),
    ...(total.answered_by_router > 0
      ? [['Answered by the router', total.answered_by_router.toLocaleString('en')]]
      : []),
  ]
  return (
    <dl className={styles['totals']}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
