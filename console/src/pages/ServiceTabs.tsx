import type { KindName } from '@quayside/contract/services/kinds.ts'
import { Link } from '@tanstack/react-router'
import { hasAdvanced } from '../api/advanced.ts'
import { hasBackups } from '../api/backups.ts'
import styles from './ServiceTabs.module.css'

/** The address of a page of a service. */
export interface ServiceParams {
  readonly organizationId: string
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
}

/** The pages of a service. */
export function ServiceTabs(params: ServiceParams) {
  const service = '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId'
  const shared = { params, activeOptions: { exact: true, includeSearch: false } } as const
  return (
    <nav className={styles['tabs']} aria-label="Service">
      <Link to={service} {...shared}>
        Overview
      </Link>
      <Link to={`${service}/deployments`} {...shared}>
        Deployments
      </Link>
      <Link to={`${service}/lines`} {...shared}>
        Lines
      </Link>
      {params.kind !== 'terraform' && (
        <Link to={`${service}/metrics`} {...shared}>
          Metrics
        </Link>
      )}
      {params.kind !== 'job' && params.kind !== 'terraform' && (
        <Link to={`${service}/shell`} {...shared}>
          Shell
        </Link>
      )}
      {(params.kind === 'application' || params.kind === 'container' || params.kind === 'helm') && (
        <Link to={`${service}/domains`} {...shared}>
          Domains
        </Link>
      )}
      {params.kind !== 'database' && (
        <Link to={`${service}/variables`} {...shared}>
          Variables
        </Link>
      )}
      {hasBackups(params.kind) && (
        <Link to={`${service}/backups`} {...shared}>
          Backups
        </Link>
      )}
      {params.kind === 'job' && (
        <Link to={`${service}/runs`} {...shared}>
          Runs
        </Link>
      )}
      {params.kind === 'helm' && (
        <Link to={`${service}/values`} {...shared}>
          Values
        </Link>
      )}
      {params.kind === 'terraform' && (
        <Link to={`${service}/stack`} {...shared}>
          Stack
        </Link>
      )}
      <Link to={`${service}/settings`} {...shared}>
        Settings
      </Link>
      {hasAdvanced(params.kind) && (
        <Link to={`${service}/advanced`} {...shared}>
          Advanced
        </Link>
      )}
    </nav>
  )
}
