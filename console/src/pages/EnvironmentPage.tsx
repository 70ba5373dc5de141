import { refusal } from '@quayside/contract/states.ts'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { api } from '../api/client.ts'
import type { EnvironmentSearch } from '../api/environment-search.ts'
import { environment, services, stageNames, stages } from '../api/reads.ts'
import { restartableIn } from '../api/restartable.ts'
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
import { useMay } from './use-may.ts'

const place = '/organizations/$organizationId/environments/$environmentId'

/** The services of an environment by stage, with their states, and the actions of the whole. */
export function EnvironmentPage() {
  const { organizationId, environmentId } = useParams({ from: place })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const rows = stageRows(statuses, names, list)
  const { state, deployment_request_id: request } = statuses.environment
  const { act: dialog } = useSearch({ from: place })
  const navigate = useNavigate()
  const setDialog = (act: EnvironmentSearch['act']): Promise<void> =>
    navigate({
      to: place,
      params: { organizationId, environmentId },
      search: ({ act: _, ...rest }) => ({ ...rest, ...(act && { act }) }),
      replace: act === undefined,
      resetScroll: false,
    })
  const close = () => setDialog(undefined)
  const may = useMay()
  const stop = useMutation({ mutationFn: () => api.stopEnvironment({ environmentId }) })
  const restartable = restartableIn(rows)
  const restart = useMutation({ mutationFn: () => api.rebootServices({ environmentId, body: restartable.body }) })
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
          <Button look="danger" refusal={may('deleteEnvironment')} onClick={() => void setDialog('delete')}>
            Delete
          </Button>
          {request && (
            <Button
              onClick={() => cancel.mutate()}
              isBusy={cancel.isPending}
              refusal={may('cancelEnvironmentDeployment')}
            >
              Cancel
            </Button>
          )}
          <Button
            onClick={() => stop.mutate()}
            isBusy={stop.isPending}
            refusal={may('stopEnvironment') ?? empty ?? refusal('STOP', state)}
          >
            Stop
          </Button>
          <Button
            onClick={() => restart.mutate()}
            isBusy={restart.isPending}
            refusal={may('rebootServices') ?? empty ?? restartable.refusal}
          >
            Restart
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
            to="/organizations/$organizationId/environments/$environmentId/stages"
            params={{ organizationId, environmentId }}
          >
            Stages
          </Link>
          <Link
            className={buttonClass}
            to="/organizations/$organizationId/environments/$environmentId/new"
            params={{ organizationId, environmentId }}
          >
            New service
          </Link>
          <Button refusal={may('cloneEnvironment')} onClick={() => void setDialog('copy')}>
            Copy …
          </Button>
          <Button look="main" onClick={() => void setDialog('deploy')} refusal={may('deployEnvironment') ?? empty}>
            Deploy …
          </Button>
        </>
      }
    >
      <Problem error={stop.error ?? restart.error ?? cancel.error} />
      {dialog === 'deploy' && <DeployDialog {...{ environmentId, name: about.name }} onClose={close} />}
      {dialog === 'copy' && <CloneDialog {...{ organizationId, environmentId, name: about.name }} onClose={close} />}
      {dialog === 'delete' && <DeleteEnvironment {...{ organizationId, environmentId }} onClose={close} />}
      {empty !== undefined && <Empty>{empty}</Empty>}
      {rows.length > 0 && <EnvironmentServices />}
      <EnvironmentHistory environmentId={environmentId} />
      {statuses.environment.last_deployment_date && (
        <DeploymentLines organization={organizationId} project={about.project.id} environment={environmentId} />
      )}
    </Page>
  )
}
