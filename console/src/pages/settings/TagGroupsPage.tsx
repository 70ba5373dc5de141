import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { inOrganization } from '../../api/reads-organization.ts'
import {
  annotationsGroups,
  labelsGroups,
  type TagGroup,
  type TagGroupOperations,
  tagGroups,
} from '../../api/tag-groups.ts'
import { scopeInWords } from '../../forms/annotation-scopes.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page, Section } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { useMay } from '../use-may.ts'
import { GroupUsers } from './GroupUsers.tsx'
import { RemoveButton } from './RemoveButton.tsx'
import styles from './Settings.module.css'
import { TagGroupForm } from './TagGroupForm.tsx'

/** The groups of labels and of annotations of an organization. */
export function TagGroupsPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  return (
    <Page title="Labels and annotations">
      {[labelsGroups, annotationsGroups].map((groups) => (
        <Groups key={groups.noun} {...{ organizationId, groups }} />
      ))}
    </Page>
  )
}

interface GroupsProps {
  readonly organizationId: string
  readonly groups: TagGroupOperations
}

function Groups({ organizationId, groups }: GroupsProps) {
  const { data } = useSuspenseQuery(tagGroups(groups, organizationId))
  const [edited, setEdited] = useState<TagGroup | 'new'>()
  const may = useMay()
  return (
    <Section
      title={groups.title}
      actions={
        <Button refusal={may(groups.names.create)} onClick={() => setEdited('new')}>
          Create a {groups.noun}
        </Button>
      }
    >
      <p className={styles['quiet']}>{groups.about}</p>
      {edited && (
        <TagGroupForm
          {...{ organizationId, groups }}
          given={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {data.length === 0 && <Empty>There is no {groups.noun} yet.</Empty>}
      {data.length > 0 && (
        <Table label={groups.title} columns={['Name', 'Content', 'Used by', 'Actions']}>
          {data.map((group) => (
            <Row key={group.id} {...{ organizationId, groups, group }} onEdit={() => setEdited(group)} />
          ))}
        </Table>
      )}
    </Section>
  )
}

interface RowProps extends GroupsProps {
  readonly group: TagGroup
  readonly onEdit: () => void
}

function Row({ organizationId, groups, group, onEdit }: RowProps) {
  const { id, name, scopes } = group
  const may = useMay()
  return (
    <tr>
      <td>{name}</td>
      <td>
        {groups.tags(group).map(({ key, value }) => (
          <div key={key}>
            <code>{value === '' ? key : `${key}=${value}`}</code>
          </div>
        ))}
        {scopes && <div className={styles['quiet']}>{scopes.map(scopeInWords).join(', ') || 'on no objects'}</div>}
      </td>
      <td>
        <GroupUsers {...{ organizationId, groups, group }} />
      </td>
      <td>
        <div className={styles['row']}>
          <Button label={`Edit ${name}`} refusal={may(groups.names.edit)} onClick={onEdit}>
            Edit
          </Button>
          <RemoveButton
            action="Delete"
            what={`the ${groups.noun} “${name}”`}
            refusal={may(groups.names.remove)}
            remove={() => groups.remove(organizationId, id)}
            makesOld={inOrganization(organizationId, groups.noun)}
          >
            <p>A group that a service or a cluster still has cannot be deleted.</p>
          </RemoveButton>
        </div>
      </td>
    </tr>
  )
}
