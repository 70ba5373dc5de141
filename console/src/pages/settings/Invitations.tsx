import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { inOrganization, invitations } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import { InvitationLink } from './InvitationLink.tsx'
import { RemoveButton } from './RemoveButton.tsx'
import styles from './Settings.module.css'

const columns = ['E-mail address', 'Role', 'Invited by', 'When', 'State', 'Actions']

/** The people who are invited and have not come yet. */
export function Invitations({ organizationId }: { readonly organizationId: string }) {
  const { data } = useSuspenseQuery(invitations(organizationId))
  const [shown, setShown] = useState<(typeof data)[number]>()
  const may = useMay()
  if (data.length === 0) return <Empty>Nobody is invited at the moment.</Empty>
  return (
    <>
      {shown && <InvitationLink invitation={shown} onClose={() => setShown(undefined)} />}
      <Table label="Invitations" columns={columns}>
        {data.map((invitation) => (
          <tr key={invitation.id}>
            <td>{invitation.email}</td>
            <td>{invitation.role_name}</td>
            <td>{invitation.inviter}</td>
            <td>
              <When at={invitation.created_at} />
            </td>
            <td>{invitation.invitation_status.toLowerCase()}</td>
            <td>
              <div className={styles['row']}>
                <Button
                  label={`Link for ${invitation.email}`}
                  refusal={may('postInviteMember')}
                  onClick={() => setShown(invitation)}
                >
                  Link
                </Button>
                <RemoveButton
                  action="Cancel"
                  what={`the invitation of ${invitation.email}`}
                  refusal={may('deleteInviteMember')}
                  remove={() => api.deleteInviteMember({ organizationId, inviteId: invitation.id })}
                  makesOld={inOrganization(organizationId, 'invitations')}
                >
                  <p>The link of the invitation stops working.</p>
                </RemoveButton>
              </div>
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}
