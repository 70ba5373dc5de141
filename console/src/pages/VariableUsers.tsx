import { Link, useParams } from '@tanstack/react-router'
import { isKind } from '../api/kinds.ts'
import type { VariableUse } from '../api/reads-variable-uses.ts'
import styles from './VariableUsers.module.css'

type User = VariableUse['used_by']

const words = { ALIAS: '(alias)', OVERRIDE: '(override)', REFERENCE: undefined } as const
/** More are counted, so that a row stays small. */
const shownAtFirst = 3

/** The variables that use one, each with its owner. */
export const VariableUsers = ({
  uses,
  isWhole,
}: {
  readonly uses: readonly VariableUse[]
  readonly isWhole?: boolean
}) => {
  if (uses.length === 0) return null
  const shown = isWhole ? uses : uses.slice(0, shownAtFirst)
  return (
    <ul className={styles['users']}>
      {shown.map(({ kind, used_by: user }) => (
        <li key={`${kind} ${user.id}`}>
          <code>{user.key}</code> of <Owner user={user} /> {words[kind] && <small>{words[kind]}</small>}
        </li>
      ))}
      {uses.length > shown.length && <li>and {uses.length - shown.length} more</li>}
    </ul>
  )
}

function Owner({ user }: { readonly user: User }) {
  const { organizationId = '' } = useParams({ strict: false })
  const { environment_id: environmentId, service_id: serviceId } = user
  const kind = user.service_type?.toLowerCase() ?? ''
  if (environmentId && serviceId && isKind(kind)) {
    return (
      <Link
        to="/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/variables"
        params={{ organizationId, environmentId, kind, serviceId }}
      >
        {user.service_name}
      </Link>
    )
  }
  if (!environmentId) return 'the project'
  return (
    <Link
      to="/organizations/$organizationId/environments/$environmentId/variables"
      params={{ organizationId, environmentId }}
    >
      {user.environment_name}
    </Link>
  )
}
