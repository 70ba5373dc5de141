import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { type Copy, copies, currentCopies } from '../api/reads-copies.ts'
import { bytes } from '../ui/amounts.ts'
import { Button } from '../ui/Button.tsx'
import { Section } from '../ui/Page.tsx'
import { Reason } from '../ui/Reason.tsx'
import { State } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import { When } from '../ui/When.tsx'

interface Project {
  readonly id: string
  readonly name: string
  readonly environments: readonly { readonly id: string; readonly name: string }[]
}

interface CopiesProps {
  readonly organizationId: string
  readonly projects: readonly Project[]
}

const columns = ['Copy', 'State', 'Copied', 'Began']

/** The copies in progress and the last ones. Nothing is shown if nothing was copied. */
export function Copies({ organizationId, projects }: CopiesProps) {
  const { data = [] } = useQuery(copies(organizationId))
  const [isWhole, setWhole] = useState(false)
  const current = currentCopies(data, Date.now())
  const shown = isWhole ? data : current
  if (data.length === 0) return null
  const more = data.length > current.length && (
    <Button onClick={() => setWhole(!isWhole)}>{isWhole ? 'Show the current ones' : `Show all ${data.length}`}</Button>
  )
  return (
    <Section title="Copies" actions={more}>
      {shown.length > 0 ? (
        <Table label="Copies" columns={columns}>
          {shown.map((copy) => (
            <CopyRow key={copy.id} {...{ organizationId, projects, copy }} />
          ))}
        </Table>
      ) : (
        <p>No copy is in progress. None has failed in the last week.</p>
      )}
    </Section>
  )
}

function CopyRow({ organizationId, projects, copy }: CopiesProps & { readonly copy: Copy }) {
  const { name, environment_id: environmentId, service_id: serviceId, status, with_data: withData } = copy
  const project = projects.find(({ id }) => id === copy.project_id)
  const environment = project?.environments.find(({ id }) => id === environmentId)
  const place = [project?.name, serviceId === null ? undefined : environment?.name, name].filter(Boolean).join(' / ')
  return (
    <tr>
      <td>
        {environment ? (
          <Link
            to="/organizations/$organizationId/environments/$environmentId"
            params={{ organizationId, environmentId }}
          >
            {place}
          </Link>
        ) : (
          place
        )}
      </td>
      <td>
        <State state={status} />
        <Reason text={copy.reason ?? ''} />
      </td>
      <td>{withData ? `settings and ${bytes(copy.copied_bytes)} of data` : 'settings'}</td>
      <td>
        <When at={copy.created_at} />
      </td>
    </tr>
  )
}
