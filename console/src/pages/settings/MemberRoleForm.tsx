import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { RoleField } from './RoleField.tsx'

interface MemberRoleFormProps {
  readonly organizationId: string
  readonly member: { readonly id: string; readonly name: string; readonly role_id: string | null }
  readonly onClose: () => void
}

/** Changes the role of a member. */
export function MemberRoleForm({ organizationId, member, onClose }: MemberRoleFormProps) {
  const [role, setRole] = useState(member.role_id ?? '')
  const save = useChange({
    change: () => api.editOrganizationMemberRole({ organizationId, body: { user_id: member.id, role_id: role } }),
    makesOld: inOrganization(organizationId, 'members'),
    onDone: onClose,
  })
  return (
    <FormDialog
      title={`Role of ${member.name}`}
      isOpen
      onClose={onClose}
      action="Save"
      isBusy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      <RoleField organizationId={organizationId} value={role} onChange={setRole} />
      <p>The role holds from the next request of {member.name} on.</p>
    </FormDialog>
  )
}
