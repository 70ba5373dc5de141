import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { inOrganization } from '../../api/reads-organization.ts'
import type { TagGroup, TagGroupOperations } from '../../api/tag-groups.ts'
import { Button } from '../../ui/Button.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'

interface GroupUsersProps {
  readonly organizationId: string
  readonly groups: TagGroupOperations
  readonly group: TagGroup
}

/** The number of services and clusters that have a group. A dialog names them. */
export function GroupUsers({ organizationId, groups, group }: GroupUsersProps) {
  const [isOpen, setOpen] = useState(false)
  const { associated_items_count: count, name } = group
  if (count === 0) return 'nothing'
  const words = count === 1 ? '1 object' : `${count} objects`
  return (
    <>
      <Button label={`${words} use ${name}`} onClick={() => setOpen(true)}>
        {words}
      </Button>
      {isOpen && (
        <PlainDialog title={`Services and clusters with “${name}”`} onClose={() => setOpen(false)}>
          <Users {...{ organizationId, groups, group }} />
        </PlainDialog>
      )}
    </>
  )
}

function Users({ organizationId, groups, group }: GroupUsersProps) {
  const { data, error } = useQuery({
    queryKey: inOrganization(organizationId, 'used-by', group.id),
    queryFn: () => groups.items(organizationId, group.id),
    gcTime: 0,
  })
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  return (
    <ul>
      {data.results.map(({ item_id: id, item_name: name, item_type: type, ...where }) => (
        <li key={id}>
          {name}
          {type === 'CLUSTER' && ', a cluster'}
          {where.environment_id && (
            <>
              {' '}
              in{' '}
              <Link
                to="/organizations/$organizationId/environments/$environmentId"
                params={{ organizationId, environmentId: where.environment_id }}
              >
                {where.project_name} / {where.environment_name}
              </Link>
            </>
          )}
        </li>
      ))}
    </ul>
  )
}
