import { Link } from '@tanstack/react-router'
import styles from '../ServiceTabs.module.css'

/** The address of a page of an environment. */
export interface EnvironmentParams {
  readonly organizationId: string
  readonly environmentId: string
}

const environment = '/organizations/$organizationId/environments/$environmentId'
const tabs = [
  { to: environment, label: 'Services' },
  { to: `${environment}/deployments`, label: 'Deployments' },
  { to: `${environment}/variables`, label: 'Variables' },
  { to: `${environment}/stages`, label: 'Stages' },
  { to: `${environment}/hours`, label: 'Hours' },
  { to: `${environment}/rules`, label: 'Rules' },
  { to: `${environment}/settings`, label: 'Settings' },
] as const

/** The pages of an environment. */
export function EnvironmentTabs({ organizationId, environmentId }: EnvironmentParams) {
  const shared = {
    params: { organizationId, environmentId },
    activeOptions: { exact: true, includeSearch: false },
  } as const
  return (
    <nav className={styles['tabs']} aria-label="Environment">
      {tabs.map(({ to, label }) => (
        <Link key={to} to={to} {...shared}>
          {label}
        </Link>
      ))}
    </nav>
  )
}
