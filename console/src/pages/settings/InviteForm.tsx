import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization, roles } from '../../api/reads-organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { TextField } from '../../ui/Field.tsx'
import { InvitationLink } from './InvitationLink.tsx'
import { RoleField } from './RoleField.tsx'

interface InviteFormProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Invites a person, then shows the link to pass on. */
export function InviteForm({ organizationId, onClose }: InviteFormProps) {
  const { data } = useSuspenseQuery(roles(organizationId))
  const [email, setEmail] = useState('')
  const [role, setRole] = useState(data.find(({ name }) => name === 'Viewer')?.id ?? '')
  const invite = useChange({
    change: () => api.postInviteMember({ organizationId, body: { email, role_id: role } }),
    makesOld: inOrganization(organizationId, 'invitations'),
  })
  if (invite.data) return <InvitationLink invitation={invite.data} onClose={onClose} />
  return (
    <FormDialog
      title="Invite a person"
      isOpen
      onClose={onClose}
      action="Invite"
      isBusy={invite.isPending}
      error={invite.error}
      onSubmit={() => invite.mutate()}
      preview={() => invite.preview()}
    >
      <TextField label="E-mail address" value={email} onChange={setEmail} isRequired />
      <RoleField organizationId={organizationId} value={role} onChange={setRole} />
    </FormDialog>
  )
}
