import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { EnvironmentDeployment } from '../../api/deployment-versions.ts'
import { environment } from '../../api/reads.ts'
import { environmentHistory } from '../../api/reads-history.ts'
import { Empty, Section } from '../../ui/Page.tsx'
import { DeploymentLines } from '../DeploymentLines.tsx'
import { OlderDeployments, useHistory } from '../OlderDeployments.tsx'
import { CompareDeployments } from './CompareDeployments.tsx'
import { DeploymentDetail } from './DeploymentDetail.tsx'
import { DeploymentTable } from './DeploymentTable.tsx'
import { EnvironmentFrame } from './EnvironmentFrame.tsx'
import { RollbackEnvironment } from './RollbackEnvironment.tsx'

const from = '/organizations/$organizationId/environments/$environmentId/deployments'

/** The deployments of an environment: one as a pipeline, the list, and the difference of two. */
export function DeploymentsPage() {
  const params = useParams({ from })
  const { organizationId, environmentId } = params
  const search = useSearch({ from })
  const navigate = useNavigate({ from })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { history, older } = useHistory((pages) => environmentHistory(environmentId, pages))
  const [target, setTarget] = useState<EnvironmentDeployment>()
  const [last] = history
  const shown = history.find(({ identifier }) => identifier.execution_id === search.deployment) ?? last
  const compare = (one: string, other: string) =>
    void navigate({ search: (now) => ({ ...now, from: one, to: other }), resetScroll: false })
  return (
    <EnvironmentFrame params={params}>
      {shown ? (
        <>
          <DeploymentDetail {...{ params }} deployment={shown} />
          <DeploymentTable
            {...{ params, history }}
            shown={shown.identifier.execution_id}
            onCompare={compare}
            onRollback={setTarget}
          />
          <OlderDeployments {...older} />
        </>
      ) : (
        <Section title="Deployments">
          <Empty>It was never deployed. “Review and deploy” shows the effect first.</Empty>
        </Section>
      )}
      {search.from && search.to && (
        <CompareDeployments {...{ environmentId, history }} from={search.from} to={search.to} onChoose={compare} />
      )}
      {last && shown === last && (
        <DeploymentLines organization={organizationId} project={about.project.id} environment={environmentId} />
      )}
      {target && <RollbackEnvironment {...{ environmentId, history, target }} onClose={() => setTarget(undefined)} />}
    </EnvironmentFrame>
  )
}
