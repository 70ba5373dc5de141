import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { hasAdvanced } from '../api/advanced.ts'
import { beganVersion, type HistoryEntry, versionBefore } from '../api/history-rows.ts'
import { serviceHistory } from '../api/reads-history.ts'
import { Empty, Section } from '../ui/Page.tsx'
import { DeploymentRows } from './DeploymentRows.tsx'
import { Difference } from './Difference.tsx'
import { OlderDeployments, useHistory } from './OlderDeployments.tsx'
import { RollbackDialog } from './RollbackDialog.tsx'
import { ServiceFrame } from './ServiceFrame.tsx'
import type { ServiceParams } from './ServiceTabs.tsx'
import { CanarySettings } from './service/CanarySettings.tsx'
import { TwoVersions } from './TwoVersions.tsx'

const from = '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/deployments'

/** The deployments of a service, the difference between two of them, and rollbacks. */
export function ServiceDeploymentsPage() {
  const params = useParams({ from })
  return <ServiceFrame params={params}>{() => <Deployments params={params} />}</ServiceFrame>
}

function Deployments({ params }: { readonly params: ServiceParams }) {
  const { environmentId, kind, serviceId } = params
  const { history: data, older } = useHistory((pages) => serviceHistory(environmentId, kind, serviceId, pages))
  const search = useSearch({ from })
  const navigate = useNavigate({ from })
  const [target, setTarget] = useState<HistoryEntry>()
  const compare = (next: { readonly from: string; readonly to: string }) => void navigate({ search: next })
  return (
    <>
      <Section title="Deployments">
        {data.length === 0 ? (
          <Empty>It was never deployed.</Empty>
        ) : (
          <DeploymentRows
            params={params}
            history={data}
            onRollback={setTarget}
            onCompare={({ identifier: { execution_id: to } }) =>
              compare({ from: versionBefore(data, to)?.identifier.execution_id ?? to, to })
            }
          />
        )}
        <OlderDeployments {...older} />
      </Section>
      {hasAdvanced(kind) && <CanarySettings {...{ environmentId, kind, serviceId }} />}
      {search.from && search.to && (
        <Section title="Difference">
          <TwoVersions {...search} history={data.filter(beganVersion)} onChoose={compare} />
          <Difference environmentId={environmentId} serviceId={serviceId} from={search.from} to={search.to} />
        </Section>
      )}
      {target && (
        <RollbackDialog
          {...{ environmentId, kind, serviceId }}
          executionId={target.identifier.execution_id}
          createdAt={target.auditing_data.created_at}
          onClose={() => setTarget(undefined)}
        />
      )}
    </>
  )
}
