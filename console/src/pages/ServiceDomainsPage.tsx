import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { hasAdvanced } from '../api/advanced.ts'
import { domainOperations } from '../api/domains.ts'
import { links } from '../api/reads.ts'
import { Empty, Section } from '../ui/Page.tsx'
import { Table } from '../ui/Table.tsx'
import { Audience } from './Audience.tsx'
import { CustomDomains } from './CustomDomains.tsx'
import { Missing } from './Failed.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'

/** The addresses of a service: those of the platform, and those of its owner. */
export function ServiceDomainsPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/domains',
  })
  const { organizationId, environmentId, kind, serviceId } = params
  const operations = domainOperations[kind]
  if (!operations) return <Missing />
  return (
    <ServiceFrame params={params}>
      {() => (
        <>
          <Addresses environmentId={environmentId} serviceId={serviceId} />
          {hasAdvanced(kind) && <Audience {...{ organizationId, environmentId, kind, serviceId }} />}
          <CustomDomains {...{ environmentId, serviceId, operations }} />
        </>
      )}
    </ServiceFrame>
  )
}

interface AddressesProps {
  readonly environmentId: string
  readonly serviceId: string
}

function Addresses({ environmentId, serviceId }: AddressesProps) {
  const { data } = useSuspenseQuery(links(environmentId))
  const own = data.filter(({ service_id: id }) => id === serviceId)
  return (
    <Section title="Addresses">
      {own.length === 0 ? (
        <Empty>It has no public port. Make a port public in its settings, and it has an address.</Empty>
      ) : (
        <Table label="Addresses" columns={['Address', 'Port of the program', 'Domain']}>
          {own.map(({ url, internal_port: port, is_qovery_domain: isOurs, is_default: isDefault }) => (
            <tr key={url}>
              <td>
                <a href={url} target="_blank" rel="noreferrer">
                  {url}
                </a>
              </td>
              <td>{port}</td>
              <td>
                {isOurs ? 'of the platform' : 'custom'}
                {isDefault && ', default'}
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Section>
  )
}
