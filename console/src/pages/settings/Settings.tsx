import { Link, Outlet, useParams } from '@tanstack/react-router'
import styles from './Settings.module.css'

const base = '/organizations/$organizationId/settings'
const pages = [
  { to: `${base}/general`, name: 'Organization' },
  { to: `${base}/members`, name: 'Members' },
  { to: `${base}/roles`, name: 'Roles' },
  { to: `${base}/api-tokens`, name: 'API tokens' },
  { to: `${base}/git-tokens`, name: 'Git tokens' },
  { to: `${base}/git-webhooks`, name: 'Git webhooks' },
  { to: `${base}/registries`, name: 'Registries' },
  { to: `${base}/helm-repositories`, name: 'Helm repositories' },
  { to: `${base}/clusters`, name: 'Clusters' },
  { to: `${base}/groups`, name: 'Labels' },
  { to: `${base}/webhooks`, name: 'Webhooks' },
  { to: `${base}/audit`, name: 'Audit log' },
  { to: `${base}/account`, name: 'Account' },
] as const

/** The pages of an organization's settings, with the way between them. */
export function Settings() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  return (
    <>
      <nav className={styles['tabs']} aria-label="Settings">
        {pages.map(({ to, name }) => (
          <Link key={to} to={to} params={{ organizationId }}>
            {name}
          </Link>
        ))}
      </nav>
      <Outlet />
    </>
  )
}
