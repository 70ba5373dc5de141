import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { deploymentQueue, progressOf } from '../../api/reads-queue.ts'
import { Button } from '../../ui/Button.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { State, wordsOf } from '../../ui/State.tsx'
import { useMay } from '../use-may.ts'
import styles from './EnvironmentFrame.module.css'
import type { EnvironmentParams } from './EnvironmentTabs.tsx'

/** The deployment that runs now, with its stage, and the number of deployments that wait. */
export function InProgress({ params }: { readonly params: EnvironmentParams }) {
  const { environmentId } = params
  const { data } = useQuery(deploymentQueue(environmentId))
  const cancel = useChange({ change: () => api.cancelEnvironmentDeployment({ environmentId }) })
  const may = useMay()
  const [first, ...waiting] = data ?? []
  const progress = first && progressOf(first)
  return (
    <section className={styles['now']} aria-label="Deployment in progress">
      <State state={progress ? 'ONGOING' : 'QUEUED'} />
      {first && (
        <span>
          {wordsOf(first.trigger_action)} by {first.auditing_data.triggered_by}
        </span>
      )}
      {progress && <span className={styles['quiet']}>{progress}</span>}
      {waiting.length > 0 && <span className={styles['quiet']}>{waiting.length} more wait</span>}
      <Problem error={cancel.error} />
      <span>
        <Link to="/organizations/$organizationId/environments/$environmentId/deployments" params={params}>
          Watch
        </Link>
        <Button isBusy={cancel.isPending} refusal={may('cancelEnvironmentDeployment')} onClick={() => cancel.mutate()}>
          Cancel
        </Button>
      </span>
    </section>
  )
}
