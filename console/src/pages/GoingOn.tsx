import { isAtRest, isFailed, type State as StateName } from '@quayside/contract/states.ts'
import { Link } from '@tanstack/react-router'
import { Section } from '../ui/Page.tsx'
import { type AnyState, State } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import { When } from '../ui/When.tsx'

interface Environment {
  readonly id: string
  readonly name: string
  readonly deployment_status?: Status | null
}

interface Status {
  readonly state: AnyState
  readonly triggered_by?: string | null
  readonly last_deployment_date?: string | null
}

interface Project {
  readonly name: string
  readonly environments: readonly Environment[]
}

interface Place {
  readonly id: string
  readonly name: string
  readonly project: string
  readonly status: Status
}

/** Pure: the environments that change at this moment, then those whose last deployment failed. */
export function goingOn(projects: readonly Project[]): readonly Place[] {
  const all = projects.flatMap(({ name: project, environments }) =>
    environments.flatMap(({ id, name, deployment_status: status }) => (status ? [{ id, name, project, status }] : [])),
  )
  // The states of environments are among the states of services.
  const stateOf = ({ status }: Place) => status.state as StateName
  const failed = all.filter((place) => isFailed(stateOf(place)))
  return [...all.filter((place) => !isAtRest(stateOf(place))), ...failed]
}

interface GoingOnProps {
  readonly organizationId: string
  readonly projects: readonly Project[]
}

/** Deployments in progress and failures. Nothing is shown if all is well. */
export function GoingOn({ organizationId, projects }: GoingOnProps) {
  const places = goingOn(projects)
  if (places.length === 0) return null
  return (
    <Section title="Now">
      <Table label="In progress and failed" columns={['Environment', 'State', 'By', 'Last deployment']}>
        {places.map(({ id, name, project, status }) => (
          <tr key={id}>
            <td>
              <Link
                to="/organizations/$organizationId/environments/$environmentId"
                params={{ organizationId, environmentId: id }}
              >
                {project} / {name}
              </Link>
            </td>
            <td>
              <State state={status.state} />
            </td>
            <td>{status.triggered_by}</td>
            <td>{status.last_deployment_date ? <When at={status.last_deployment_date} /> : 'in progress'}</td>
          </tr>
        ))}
      </Table>
    </Section>
  )
}
