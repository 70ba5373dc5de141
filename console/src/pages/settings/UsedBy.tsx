import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { inOrganization } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'

interface Services {
  readonly results: readonly {
    readonly service_id: string
    readonly service_name: string
    readonly environment_id: string
    readonly environment_name: string
    readonly project_name: string
  }[]
}

interface UsedByProps {
  readonly organizationId: string
  readonly id: string
  readonly name: string
  readonly count: number
  readonly read: () => Promise<Services>
}

/** The number of services that use something. A dialog names them. */
export function UsedBy({ count, name, ...rest }: UsedByProps) {
  const [isOpen, setOpen] = useState(false)
  if (count === 0) return 'no service'
  const words = count === 1 ? '1 service' : `${count} services`
  return (
    <>
      <Button label={`${words} use ${name}`} onClick={() => setOpen(true)}>
        {words}
      </Button>
      {isOpen && (
        <PlainDialog title={`Services that use “${name}”`} onClose={() => setOpen(false)}>
          <ServiceList {...rest} />
        </PlainDialog>
      )}
    </>
  )
}

function ServiceList({ organizationId, id, read }: Pick<UsedByProps, 'organizationId' | 'id' | 'read'>) {
  const { data, error } = useQuery({
    queryKey: inOrganization(organizationId, 'used-by', id),
    queryFn: read,
    gcTime: 0,
  })
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  return (
    <ul>
      {data.results.map((service) => (
        <li key={service.service_id}>
          {service.service_name} in{' '}
          <Link
            to="/organizations/$organizationId/environments/$environmentId"
            params={{ organizationId, environmentId: service.environment_id }}
          >
            {service.project_name} / {service.environment_name}
          </Link>
        </li>
      ))}
    </ul>
  )
}
