import { Link } from '@tanstack/react-router'
import type { EnvironmentDeployment } from '../../api/deployment-versions.ts'
import { versionOf } from '../../api/history-rows.ts'
import { isKind } from '../../api/kinds.ts'
import { secondsIn, secondsOf } from '../../ui/duration.ts'
import { Elapsed } from '../../ui/Elapsed.tsx'
import { State, wordsOf } from '../../ui/State.tsx'
import { exactTime, When } from '../../ui/When.tsx'
import { outcomeText, shareText } from '../service/CanaryStep.tsx'
import { useCanaryStep } from '../service/use-canary-step.ts'
import styles from './Deployments.module.css'
import type { EnvironmentParams } from './EnvironmentTabs.tsx'

type Stage = EnvironmentDeployment['stages'][number]
type Service = Stage['services'][number]

interface DeploymentDetailProps {
  readonly params: EnvironmentParams
  readonly deployment: EnvironmentDeployment
}

const place = '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId'

/** One deployment as a pipeline: its stages in order, and the part of each service. */
export function DeploymentDetail({ params, deployment }: DeploymentDetailProps) {
  const { auditing_data: audit, action_status, trigger_action, total_duration, stages } = deployment
  const isRunning = action_status === 'ONGOING' || action_status === 'CANCELING'
  return (
    <article className={styles['deployment']} aria-label={`Deployment of ${exactTime(audit.created_at)}`}>
      <header className={styles['about']}>
        <State state={action_status} />
        <span>
          {wordsOf(trigger_action)} by {audit.triggered_by}, <When at={audit.created_at} />
        </span>
        <span>from {wordsOf(audit.origin)}</span>
        <span>{isRunning ? <Elapsed since={audit.created_at} /> : total_duration && secondsOf(total_duration)}</span>
      </header>
      <ol className={styles['pipeline']}>
        {stages.map((stage) => (
          <li key={stage.name} data-status={stage.status}>
            <div className={styles['stage']}>
              {stage.name}{' '}
              <small>
                {wordsOf(stage.status)}
                {stage.duration && `, ${secondsOf(stage.duration)}`}
              </small>
            </div>
            <ul>
              {stage.services.map((service) => (
                <ServicePart key={service.identifier.service_id} {...{ params, service, stage }} />
              ))}
            </ul>
          </li>
        ))}
      </ol>
    </article>
  )
}

interface ServicePartProps {
  readonly params: EnvironmentParams
  readonly service: Service
  readonly stage: Stage
}

/** The part of one service: its version, its time as a share of the longest one, and its end. */
function ServicePart({ params, service, stage }: ServicePartProps) {
  const { identifier, status, status_details, details, reason, total_duration } = service
  const kind = identifier.service_type.toLowerCase()
  const longest = Math.max(1, ...stage.services.map((one) => secondsIn(one.total_duration)))
  const { commit } = details
  return (
    <li className={styles['part']}>
      <div className={styles['who']}>
        {isKind(kind) ? (
          <Link to={place} params={{ ...params, kind, serviceId: identifier.service_id }}>
            {identifier.name}
          </Link>
        ) : (
          identifier.name
        )}
        <State state={status_details.status === 'CANCELED' ? 'CANCELED' : status} />
        <small className={styles['time']}>{total_duration && secondsOf(total_duration)}</small>
        {isKind(kind) && (
          <Link
            to={`${place}/lines`}
            params={{ ...params, kind, serviceId: identifier.service_id }}
            search={{ deployment: identifier.execution_id }}
            aria-label={`Lines of ${identifier.name}`}
          >
            Lines
          </Link>
        )}
      </div>
      <span aria-hidden="true" className={styles['bar']}>
        <span style={{ width: `${(100 * secondsIn(total_duration)) / longest}%` }} />
      </span>
      <div className={styles['reason']}>
        {versionOf(details)}
        {commit && ` (${commit.author_name})`}
      </div>
      <CanaryText {...{ kind, state: status, serviceId: identifier.service_id, environmentId: params.environmentId }} />
      {reason && <div className={styles['reason']}>{reason}</div>}
    </li>
  )
}

/** The share of a new version while the deployment gives it a part of the requests. */
function CanaryText(service: Parameters<typeof useCanaryStep>[0]) {
  const step = useCanaryStep(service)
  return step ? (
    <div className={styles['reason']}>
      {shareText(step)}. {outcomeText(step)}
    </div>
  ) : null
}
