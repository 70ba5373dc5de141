import { refusal } from '@quayside/contract/states.ts'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../api/client.ts'
import { environment, services, stageNames, stages } from '../api/reads.ts'
import { stageRows } from '../api/stage-rows.ts'
import { Button, buttonClass } from '../ui/Button.tsx'
import { Empty, Page } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { State } from '../ui/State.tsx'
import { CloneDialog } from './CloneDialog.tsx'
import { DeleteEnvironment } from './DeleteEnvironment.tsx'
import { DeployDialog } from './DeployDialog.tsx'
import { DeploymentLines } from './DeploymentLines.tsx'
import { EnvironmentHistory } from './EnvironmentHistory.tsx'
import { EnvironmentServices } from './EnvironmentServices.tsx'

/** The services of an environment by stage, with their states, and the actions of the whole. */
export function EnvironmentPage() {
  const { organizationId, environmentId } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId',
  })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const rows = stageRows(statuses, names, list)
  const { state, deployment_request_id: request } = statuses.environment
  const [dialog, setDialog] = useState<'deploy' | 'copy'>()
  const close = () => setDialog(undefined)
  const stop = useMutation({ mutationFn: () => api.stopEnvironment({ environmentId }) })
  const cancel = useMutation({ mutationFn: () => api.cancelEnvironmentDeployment({ environmentId }) })
  const empty = rows.length === 0 ? 'There is no service in it yet.' : undefined
  return (
    <Page
      title={about.name}
      above={
        <Link to="/organizations/$organizationId" params={{ organizationId }}>
          Projects
        </Link>
      }
      beside={<State state={state} />}
      actions={
        <>
          <DeleteEnvironment {...{ organizationId, environmentId }} />
          {request && (
            <Button onClick={() => cancel.mutate()} isBusy={cancel.isPending}>
              Cancel
            </Button>
          )}
          <Button onClick={() => stop.mutate()} isBusy={stop.isPending} refusal={empty ?? refusal('STOP', state)}>
            Stop
          </Button>
          <Link
            className={buttonClass}
            to="/organizations/$organizationId/environments/$environmentId/variables"
            params={{ organizationId, environmentId }}
          >
            Variables
          </Link>
          <Link
            className={buttonClass}
            to="/organizations/$organizationId/environments/$environmentId/new"
            params={{ organizationId, environmentId }}
          >
            New service
          </Link>
          <Button onClick={() => setDialog('copy')}>Copy …</Button>
          <Button look="main" onClick={() => setDialog('deploy')} refusal={empty}>
            Deploy …
          </Button>
        </>
      }
    >
      <Problem error={stop.error ?? cancel.error} />
      {dialog === 'deploy' && <DeployDialog {...{ environmentId, name: about.name }} onClose={close} />}
      {dialog === 'copy' && <CloneDialog {...{ organizationId, environmentId, name: about.name }} onClose={close} />}
      {empty !== undefined && <Empty>{empty}</Empty>}
      {rows.length > 0 && <EnvironmentServices />}
      <EnvironmentHistory environmentId={environmentId} />
      {statuses.environment.last_deployment_date && (
        <DeploymentLines organization={organizationId} project={about.project.id} environment={environmentId} />
      )}
    </Page>
  )
}
