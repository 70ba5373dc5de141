import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet, useParams } from '@tanstack/react-router'
import { useIsConnected, useLiveOrganization } from '../api/live.ts'
import { organizations } from '../api/reads.ts'
import { signOut } from '../api/session.ts'
import { Button } from '../ui/Button.tsx'
import { Mark } from '../ui/Mark.tsx'
import styles from './Frame.module.css'
import { NewVersion } from './NewVersion.tsx'
import { NextChange } from './NextChange.tsx'
import { CommandCenter } from './palette/CommandCenter.tsx'
import { usePreload } from './preload.ts'
import { SessionEnded } from './SessionEnded.tsx'

/** The frame of all pages of an organization. It follows the changes of the organization. */
export function Frame() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(organizations())
  const name = data.find(({ id }) => id === organizationId)?.name ?? 'Organization'
  useLiveOrganization(organizationId)
  usePreload()
  const isConnected = useIsConnected()
  return (
    <>
      <header className={styles['bar']}>
        <Link to="/organizations/$organizationId" params={{ organizationId }} className={styles['name']}>
          <Mark />
          {name}
        </Link>
        <nav className={styles['links']} aria-label="Platform">
          <Link to="/organizations/$organizationId/settings/members" params={{ organizationId }}>
            Settings
          </Link>
          <a href="/docs">API</a>
          <CommandCenter organizationId={organizationId} />
          <a href="/oidc/account">Account</a>
          <Button onClick={() => void signOut()}>Sign out</Button>
        </nav>
      </header>
      <div role="status">
        {!isConnected && (
          <p className={styles['away']}>
            The server cannot be reached. States may be old. The page catches up when it is back.
          </p>
        )}
      </div>
      <NextChange />
      <SessionEnded />
      <NewVersion />
      <Outlet />
    </>
  )
}
