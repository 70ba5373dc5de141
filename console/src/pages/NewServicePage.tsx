import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { kindNames, kinds } from '../api/kinds.ts'
import { environment } from '../api/reads.ts'
import { newServices } from '../forms/new-services.ts'
import { Page } from '../ui/Page.tsx'
import styles from './NewServicePage.module.css'

/** Asks for the source of a new service. */
export function NewServicePage() {
  const { organizationId, environmentId } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/new',
  })
  const { data: about } = useSuspenseQuery(environment(environmentId))
  return (
    <Page title={`New service in ${about.name}`}>
      <ul className={styles['sources']}>
        {kindNames.map((kind) => (
          <li key={kind}>
            <Link
              className={styles['source']}
              to="/organizations/$organizationId/environments/$environmentId/new/$kind"
              params={{ organizationId, environmentId, kind }}
            >
              <strong>{newServices[kind].source}</strong>
              <span>{newServices[kind].about}</span>
              <small>{kinds[kind].noun}</small>
            </Link>
          </li>
        ))}
      </ul>
    </Page>
  )
}
