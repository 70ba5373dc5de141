import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { projects } from '../api/reads.ts'
import { Button } from '../ui/Button.tsx'
import { Empty, Page, Section } from '../ui/Page.tsx'
import { State } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import { relativeTime } from '../ui/time.ts'
import { Copies } from './Copies.tsx'
import { Rooms } from './clusters/Rooms.tsx'
import { FirstVisit } from './FirstVisit.tsx'
import { GoingOn } from './GoingOn.tsx'
import { NewProject } from './NewProject.tsx'
import { ProjectActions } from './ProjectActions.tsx'
import { useMay } from './use-may.ts'

const columns = ['Environment', 'State', 'Services', 'Cluster', 'Last deployment']

/** The projects of an organization, with the state of each environment. */
export function OrganizationPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId/' })
  const { data } = useSuspenseQuery(projects(organizationId))
  const [isOpen, setOpen] = useState(false)
  const may = useMay()
  const now = Date.now()
  const create = (
    <Button look="main" refusal={may('createProject')} onClick={() => setOpen(true)}>
      New project
    </Button>
  )
  return (
    <Page title="Projects" actions={create}>
      {isOpen && <NewProject organizationId={organizationId} onClose={() => setOpen(false)} />}
      <GoingOn organizationId={organizationId} projects={data} />
      <Copies organizationId={organizationId} projects={data} />
      {data.every(({ environments }) => environments.length === 0) && (
        <FirstVisit organizationId={organizationId} projects={data} />
      )}
      {data.map((project) => (
        <Section key={project.id} title={project.name} actions={<ProjectActions {...{ organizationId, project }} />}>
          {project.environments.length === 0 ? (
            <Empty>This project has no environment yet.</Empty>
          ) : (
            <Table label={`Environments of ${project.name}`} columns={columns}>
              {project.environments.map(({ id, name, deployment_status: status, services_overview, cluster }) => (
                <tr key={id}>
                  <td>
                    <Link
                      to="/organizations/$organizationId/environments/$environmentId"
                      params={{ organizationId, environmentId: id }}
                    >
                      {name}
                    </Link>
                  </td>
                  <td>{status && <State state={status.state} />}</td>
                  <td>{services_overview.service_count}</td>
                  <td>{cluster.name}</td>
                  <td>{status?.last_deployment_date ? relativeTime(status.last_deployment_date, now) : 'never'}</td>
                </tr>
              ))}
            </Table>
          )}
        </Section>
      ))}
      <Rooms organizationId={organizationId} />
    </Page>
  )
}
