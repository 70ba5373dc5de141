import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type GitPush, gitPushes } from '../../api/reads-git-webhooks.ts'
import { Empty } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import styles from './Settings.module.css'

/** The last pushes that the platform knows, and their result for each service. */
export function GitPushes({ organizationId }: { readonly organizationId: string }) {
  const { data } = useSuspenseQuery(gitPushes(organizationId))
  if (data.length === 0) return <Empty>No push was reported yet.</Empty>
  return (
    <Table label="Pushes" columns={['When', 'Repository', 'Commit', 'Services']}>
      {data.map((push) => (
        <tr key={push.id}>
          <td>
            <When at={push.created_at} />
            <div className={styles['quiet']}>{push.pusher}</div>
          </td>
          <td>
            {push.repository}
            <div className={styles['quiet']}>
              {push.branch}, {push.source === 'BUILT_IN' ? 'the built-in git host' : wordsOf(push.source)}
            </div>
          </td>
          <td>
            <code>{push.git_commit_id.slice(0, 8)}</code>
          </td>
          <td>
            <Results {...{ organizationId, push }} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

function Results({ organizationId, push }: { readonly organizationId: string; readonly push: GitPush }) {
  if (push.handled_at === null) return 'not handled yet'
  if (push.services.length === 0) return 'no service follows it'
  return push.services.map(({ service_id: id, service_name: name, result, reason, ...where }) => (
    <div key={id}>
      {name} in{' '}
      <Link
        to="/organizations/$organizationId/environments/$environmentId"
        params={{ organizationId, environmentId: where.environment_id }}
      >
        {where.environment_name}
      </Link>
      : {wordsOf(result)}
      {reason && <span className={styles['quiet']}> ({reason})</span>}
    </div>
  ))
}
