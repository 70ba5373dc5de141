import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import type { EnvironmentDeployment } from '../../api/deployment-versions.ts'
import { environment, environmentHistory } from '../../api/reads.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { DeploymentLines } from '../DeploymentLines.tsx'
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
  const { history, ...older } = useHistory(environmentId)
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
          <Problem error={older.error} />
          {older.exist && (
            <p>
              <Button isBusy={older.areRead} onClick={older.read}>
                Older deployments
              </Button>
            </p>
          )}
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

/** The deployments that were read, and the older ones. */
function useHistory(environmentId: string) {
  const [pages, setPages] = useState(1)
  const { data: newest } = useSuspenseQuery(environmentHistory(environmentId))
  const { data, error, isPlaceholderData } = useQuery({
    ...environmentHistory(environmentId, pages),
    // The list stays while more are read, unless it is of another environment.
    placeholderData: (former, of) => (of?.queryKey[1] === environmentId ? former : newest),
  })
  const { results: history, hasMore: exist } = data ?? newest
  return { history, exist, error, areRead: isPlaceholderData, read: () => setPages(pages + 1) }
}
