import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pushStatus } from '../../api/service-commits.ts'
import { Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'

const words = {
  ACTIVE: 'Pushes to its repository arrive here.',
  NOT_CONFIGURED: 'Pushes to its repository do not arrive here: the organization has no git webhook of its provider.',
  MISCONFIGURED: 'A git webhook of its provider exists, but its messages lack events.',
  UNABLE_TO_VERIFY: 'A git webhook of its provider exists. No push of this repository has arrived lately.',
} as const

interface PushStatusProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly serviceId: string
}

/** Whether pushes to the repository of a service arrive, so that it can be deployed by itself. */
export function PushStatus({ organizationId, environmentId, serviceId }: PushStatusProps) {
  const { data, error } = useQuery(pushStatus(environmentId, serviceId))
  if (!data && !error) return null
  return (
    <Section title="Pushes">
      <Problem error={error} />
      {data && <p>{words[data.status]}</p>}
      {data && data.status !== 'ACTIVE' && (
        <Link to="/organizations/$organizationId/settings/git-webhooks" params={{ organizationId }}>
          Git webhooks of the organization
        </Link>
      )}
    </Section>
  )
}
