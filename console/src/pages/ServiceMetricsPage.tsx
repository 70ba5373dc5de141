import { useParams } from '@tanstack/react-router'
import type { ServicePlace } from '../api/follow-lines.ts'
import { routedKinds } from '../api/reads-traffic.ts'
import { useUsage } from '../api/usage.ts'
import type { ReplicaUsage, Usage } from '../api/usage-figures.ts'
import { Chart } from '../ui/Chart.tsx'
import { Empty, Section } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'
import styles from './ServiceMetricsPage.module.css'
import { ServiceTraffic } from './service/ServiceTraffic.tsx'

/** The traffic of a service, and the use of CPU and memory of each replica. */
export function ServiceMetricsPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/metrics',
  })
  return (
    <ServiceFrame params={params}>
      {({ id, kind }, place) => (
        <>
          {routedKinds.includes(kind) && <ServiceTraffic key={id} serviceId={id} />}
          <Metrics key={`${id} replicas`} place={place} kind={kind} />
        </>
      )}
    </ServiceFrame>
  )
}

function Metrics({ place, kind }: { readonly place: ServicePlace; readonly kind: string }) {
  const { usage, problem } = useUsage(place, kind.toUpperCase())
  return (
    <>
      <p className={styles['about']}>
        CPU and memory of each replica have no history: the page draws what has arrived since it was opened, every five
        seconds, at most ten minutes.
      </p>
      <Problem error={problem && new Error(problem)} />
      {usage.length === 0 && problem === '' && <Empty>No replica has sent a figure yet. Does the service run?</Empty>}
      {usage.map((replica) => (
        <Section key={replica.pod} title={replica.pod}>
          <div className={styles['charts']}>
            <Figure name="CPU" replica={replica} values={replica.cpu} metric={replica.last.cpu} />
            <Figure name="Memory" replica={replica} values={replica.memory} metric={replica.last.memory} />
          </div>
        </Section>
      ))}
    </>
  )
}

interface FigureProps {
  readonly name: string
  readonly replica: ReplicaUsage
  readonly values: readonly number[]
  readonly metric: Usage['cpu']
}

function Figure({ name, replica, values, metric }: FigureProps) {
  const text = `${metric.current} ${metric.unit}${limitOf(metric)}`
  return (
    <figure className={styles['figure']}>
      <figcaption>
        {name}: <span data-status={metric.status}>{text}</span>
      </figcaption>
      <Chart
        label={`${name} of ${replica.pod} over time. Lowest ${Math.min(...values)}, highest ${Math.max(...values)}.`}
        times={replica.times}
        values={values}
        unit={metric.unit}
      />
    </figure>
  )
}

/** Pure: the limit in words. A limit of 0 means that there is none. */
const limitOf = ({ limit, unit, current_percent: percent }: Usage['cpu']): string =>
  limit === 0 ? ', without a limit' : ` of ${limit} ${unit} (${percent} %)`
