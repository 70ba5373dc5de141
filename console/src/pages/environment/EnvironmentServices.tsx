import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { loadCode } from '../../api/new-version.ts'
import { services, stageNames, stages } from '../../api/reads.ts'
import { environmentUses } from '../../api/reads-variable-uses.ts'
import { stageRows } from '../../api/stage-rows.ts'
import { Problem } from '../../ui/Problem.tsx'
import { ServiceTables } from '../ServiceTables.tsx'
import styles from './EnvironmentServices.module.css'

// The library of the map is large, and most people look at the table.
const EnvironmentMap = lazy(async () => ({
  default: (await loadCode(() => import('./EnvironmentMap.tsx'))).EnvironmentMap,
}))

const place = '/organizations/$organizationId/environments/$environmentId'
const none: never[] = []

/** The services of an environment as tables or as a map. The address has the choice. */
export function EnvironmentServices() {
  const params = useParams({ from: place })
  const { view } = useSearch({ from: place })
  const { environmentId } = params
  const { data: statuses } = useSuspenseQuery(stages(environmentId))
  const { data: names } = useSuspenseQuery(stageNames(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: uses, error } = useQuery(environmentUses(environmentId))
  const rows = useMemo(() => stageRows(statuses, names, list), [statuses, names, list])
  const links = uses?.service_links ?? none
  const nameOf = (id: string): string => list.find((service) => service.id === id)?.name ?? 'a deleted service'
  const shared = links.filter(({ service_id }) => service_id === null)
  const choice = { to: place, params, replace: true, resetScroll: false, activeOptions: { exact: true } } as const
  return (
    <>
      <nav className={styles['views']} aria-label="View of the services">
        <Link {...choice} search={{}}>
          Table
        </Link>
        <Link {...choice} search={{ view: 'map' }}>
          Map
        </Link>
      </nav>
      <Problem error={error} />
      {view === 'map' ? (
        <Suspense fallback={<p role="status">Drawing the map …</p>}>
          <EnvironmentMap stages={rows} links={links} />
        </Suspense>
      ) : (
        <ServiceTables stages={rows} links={links} nameOf={nameOf} />
      )}
      {shared.map(({ refers_to_id: id, keys }) => (
        <p key={id} className={styles['shared']}>
          Shared variables refer to {nameOf(id)}: <code>{keys.join(', ')}</code>
        </p>
      ))}
    </>
  )
}
