import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { api } from '../api/client.ts'
import { kinds } from '../api/kinds.ts'
import { links as addressesOf } from '../api/reads.ts'
import { environmentTraffic } from '../api/reads-traffic.ts'
import type { VariableUses } from '../api/reads-variable-uses.ts'
import type { ServiceRow, StageRow } from '../api/stage-rows.ts'
import { amount, errorPercent, percent } from '../api/traffic-figures.ts'
import { Section } from '../ui/Page.tsx'
import { Reason } from '../ui/Reason.tsx'
import { State } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import styles from './ServiceTables.module.css'

const place = '/organizations/$organizationId/environments/$environmentId'
const columns = ['Service', 'Kind', 'State', 'Version', 'Traffic', 'Address', 'Refers to']
const versions = { NEVER_DEPLOYED: 'never deployed', OUT_OF_DATE: 'out of date', UP_TO_DATE: 'up to date' } as const

interface ServiceTablesProps {
  readonly stages: readonly StageRow[]
  readonly links: VariableUses['service_links']
  readonly nameOf: (id: string) => string
}

/** A table of the services of each stage. It says the same as the map. */
export function ServiceTables({ stages, links, nameOf }: ServiceTablesProps) {
  const { environmentId } = useParams({ from: place })
  const { data: addresses } = useSuspenseQuery(addressesOf(environmentId))
  const { data: traffic } = useQuery(environmentTraffic(environmentId))
  const seconds = traffic ? Math.max(1, (Date.parse(traffic.to) - Date.parse(traffic.from)) / 1000) : 1
  return stages.map(({ id, name, services }) => (
    <Section key={id} title={name}>
      <Table label={`Services of ${name}`} columns={columns}>
        {services.map((service) => (
          <Row
            key={service.id}
            service={service}
            traffic={traffic?.results.find(({ service_id }) => service_id === service.id)}
            seconds={seconds}
            urls={addresses.filter(({ service_id }) => service_id === service.id).map(({ url }) => url ?? '')}
            links={links.filter(({ service_id }) => service_id === service.id)}
            nameOf={nameOf}
          />
        ))}
      </Table>
    </Section>
  ))
}

type Traffic = Awaited<ReturnType<typeof api.listEnvironmentTraffic>>['results'][number]

interface RowProps extends Pick<ServiceTablesProps, 'links' | 'nameOf'> {
  readonly service: ServiceRow
  readonly urls: readonly string[]
  /** Undefined without traffic in the last minutes. */
  readonly traffic: Traffic | undefined
  /** The time of its numbers. */
  readonly seconds: number
}

function Row({ service: { id, name, kind, status }, urls, links, nameOf, traffic, seconds }: RowProps) {
  const { organizationId, environmentId } = useParams({ from: place })
  return (
    <tr>
      <td>
        <Link to={`${place}/$kind/$serviceId`} params={{ organizationId, environmentId, kind, serviceId: id }}>
          {name}
        </Link>
      </td>
      <td>{kinds[kind].noun}</td>
      <td>
        <State state={status.state} />
        <Reason text={status.reason} />
      </td>
      <td className={styles['version']}>{versions[status.service_deployment_status]}</td>
      <td className={styles['version']}>{traffic && <Rate traffic={traffic} seconds={seconds} />}</td>
      <td>
        {urls.map((url) => (
          <div key={url}>
            <a href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
          </div>
        ))}
      </td>
      <td>
        {links.map(({ refers_to_id: other, keys }) => (
          <div key={other} title={keys.join(', ')}>
            {nameOf(other)} <small>by {keys.length === 1 ? keys[0] : `${keys.length} variables`}</small>
          </div>
        ))}
      </td>
    </tr>
  )
}

function Rate({ traffic, seconds }: { readonly traffic: Traffic; readonly seconds: number }) {
  return (
    <>
      {amount(traffic.requests / seconds)} requests/s
      {traffic.status_5xx > 0 && <small className={styles['errors']}>{percent(errorPercent(traffic))} errors</small>}
    </>
  )
}
