import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { TextField } from '../../ui/Field.tsx'

interface RoleCreateFormProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Creates a custom role and opens its permissions. */
export function RoleCreateForm({ organizationId, onClose }: RoleCreateFormProps) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const navigate = useNavigate()
  const create = useChange({
    change: () => api.createOrganizationCustomRole({ organizationId, body: { name, description } }),
    makesOld: inOrganization(organizationId, 'roles'),
    onDone: ({ id }) =>
      void navigate({
        to: '/organizations/$organizationId/settings/roles/$roleId',
        params: { organizationId, roleId: id },
      }),
  })
  return (
    <FormDialog
      title="Create a role"
      isOpen
      onClose={onClose}
      action="Create"
      isBusy={create.isPending}
      error={create.error}
      onSubmit={() => create.mutate()}
      preview={() => create.preview()}
    >
      <TextField label="Name" value={name} onChange={setName} isRequired />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  )
}
