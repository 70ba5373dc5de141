import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { inOrganization, members } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page, Section } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import { Invitations } from './Invitations.tsx'
import { InviteForm } from './InviteForm.tsx'
import { MemberRoleForm } from './MemberRoleForm.tsx'
import { RemoveButton } from './RemoveButton.tsx'
import styles from './Settings.module.css'

/** The people of an organization, their roles, and the people who are invited. */
export function MembersPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(members(organizationId))
  const [isInviting, setInviting] = useState(false)
  const may = useMay()
  const hidden = may('getOrganizationInvitedMembers')
  return (
    <Page
      title="Members"
      actions={
        <Button look="main" refusal={may('postInviteMember')} onClick={() => setInviting(true)}>
          Invite
        </Button>
      }
    >
      {isInviting && <InviteForm organizationId={organizationId} onClose={() => setInviting(false)} />}
      <Table label="Members" columns={['Name', 'E-mail address', 'Role', 'Last activity', 'Actions']}>
        {data.map((member) => (
          <tr key={member.id}>
            <td>{member.name}</td>
            <td>{member.email}</td>
            <td>{member.role_name}</td>
            <td>{member.last_activity_at ? <When at={member.last_activity_at} /> : 'none'}</td>
            <td>
              <MemberActions organizationId={organizationId} member={member} />
            </td>
          </tr>
        ))}
      </Table>
      <Section title="Invitations">
        {hidden === undefined ? <Invitations organizationId={organizationId} /> : <Empty>{hidden}</Empty>}
      </Section>
    </Page>
  )
}

interface MemberActionsProps {
  readonly organizationId: string
  readonly member: {
    readonly id: string
    readonly name: string
    readonly role: string
    readonly role_id: string | null
  }
}

function MemberActions({ organizationId, member }: MemberActionsProps) {
  const [isChanging, setChanging] = useState(false)
  const { id, name } = member
  const may = useMay()
  const refusal = member.role === 'OWNER' ? 'The owner stays. Transfer the ownership first.' : undefined
  return (
    <div className={styles['row']}>
      <Button
        onClick={() => setChanging(true)}
        refusal={may('editOrganizationMemberRole') ?? refusal}
        label={`Change role of ${name}`}
      >
        Change role
      </Button>
      <RemoveButton
        action="Remove"
        what={`the member “${name}”`}
        refusal={may('deleteMember') ?? refusal}
        remove={() => api.deleteMember({ organizationId, body: { user_id: id } })}
        makesOld={inOrganization(organizationId)}
      >
        <p>
          {name} loses access at once. The API tokens that {name} created are revoked.
        </p>
      </RemoveButton>
      {isChanging && <MemberRoleForm {...{ organizationId, member }} onClose={() => setChanging(false)} />}
    </div>
  )
}
