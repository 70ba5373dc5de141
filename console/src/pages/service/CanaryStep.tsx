import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { KindName } from '../../api/kinds.ts'
import type { CanaryStep as Step } from '../../api/reads-canary.ts'
import { Button } from '../../ui/Button.tsx'
import { Elapsed } from '../../ui/Elapsed.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { useMay } from '../use-may.ts'
import styles from './CanaryStep.module.css'
import { useCanaryStep } from './use-canary-step.ts'

interface CanaryStepProps {
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
  readonly state: string
}

/** The share of requests that a new version gets, how they end, and what a person may do. */
export function CanaryStep({ environmentId, kind, serviceId, state }: CanaryStepProps) {
  const step = useCanaryStep({ environmentId, kind, serviceId, state })
  if (!step) return null
  return <Trial {...{ environmentId, serviceId, step }} />
}

interface TrialProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly step: Step
}

function Trial({ environmentId, serviceId, step }: TrialProps) {
  const makesOld = ['environment', environmentId, 'canary', serviceId]
  const promote = useChange({ change: () => api.promoteServiceCanary({ serviceId }), makesOld })
  const back = useChange({
    change: () => api.cancelDeploymentRequest({ deploymentRequestId: step.deployment_request_id }),
    makesOld,
  })
  const may = useMay()
  const seconds = (Date.parse(step.step_ends_at) - Date.parse(step.step_started_at)) / 1000
  return (
    <section className={styles['trial']} aria-label="Canary deployment">
      <Problem error={promote.error ?? back.error} />
      <div className={styles['words']}>
        <strong>{shareText(step)}</strong>
        <span className={styles['quiet']}>
          Step {step.step} of {step.steps.length}, since <Elapsed since={step.step_started_at} /> of {seconds} s
        </span>
        <span data-tone={step.failed + step.slow > 0 ? 'bad' : 'good'} className={styles['outcome']}>
          {outcomeText(step)}
        </span>
      </div>
      <Steps step={step} />
      <div className={styles['actions']}>
        <Button isBusy={back.isPending} refusal={may('cancelDeploymentRequest')} onClick={() => back.mutate()}>
          Go back
        </Button>
        <Button
          look="main"
          isBusy={promote.isPending}
          refusal={may('promoteServiceCanary') ?? (step.is_promoted ? 'it gets all requests next' : undefined)}
          onClick={() => promote.mutate()}
        >
          Promote now
        </Button>
      </div>
    </section>
  )
}

/** All steps, each as wide as the share that it adds. */
function Steps({ step }: { readonly step: Step }) {
  return (
    <ol className={styles['steps']}>
      {step.steps.map((percent, index) => (
        <li key={percent} aria-current={index + 1 === step.step ? 'step' : undefined} data-done={index + 1 < step.step}>
          {percent} %
        </li>
      ))}
      <li>all</li>
    </ol>
  )
}

/** Pure: the share of the new version. */
export const shareText = ({ percent }: Step): string => `${percent} % of requests go to the new version`

/** Pure: how the requests of a step ended. */
export function outcomeText({ requests, failed, max_error_percent: most, ...latency }: Step): string {
  if (requests === 0) return 'It had no requests in this step.'
  const limit = most === 100 ? 'No share of failures ends it.' : `Above ${most} % it goes back.`
  const outcome = `${failed} of ${requests} ${requests === 1 ? 'request' : 'requests'} to it failed. ${limit}`
  return [outcome, slowText(latency)].join(' ').trimEnd()
}

/** Pure: how many requests waited too long. Empty if the time is not judged. */
function slowText({
  slow,
  max_latency_ms: ms,
  max_slow_percent: most,
}: Pick<Step, 'slow' | 'max_latency_ms' | 'max_slow_percent'>): string {
  if (ms === null) return ''
  const limit = most === 100 ? 'No share of them ends it.' : `Above ${most} % it goes back.`
  return `${slow} waited longer than ${ms} ms for a response. ${limit}`
}
