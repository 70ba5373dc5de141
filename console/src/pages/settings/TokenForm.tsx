import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization, roles } from '../../api/reads-organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { SelectField, TextField } from '../../ui/Field.tsx'
import { ShownOnce } from '../../ui/ShownOnce.tsx'
import { RoleField } from './RoleField.tsx'

const lives = [
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
  { value: '365', label: 'a year' },
  { value: '', label: 'until it is revoked' },
]

interface TokenFormProps {
  readonly organizationId: string
  readonly onClose: () => void
}

/** Creates an API token and shows its value once. */
export function TokenForm({ organizationId, onClose }: TokenFormProps) {
  const { data } = useSuspenseQuery(roles(organizationId))
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [role, setRole] = useState(data.find(({ name: one }) => one === 'Viewer')?.id ?? '')
  const [days, setDays] = useState('90')
  const create = useChange({
    change: () => {
      const body = { name, description, role_id: role, expires_at: endOf(days, Date.now()) }
      return api.createOrganizationApiToken({ organizationId, body })
    },
    makesOld: inOrganization(organizationId, 'api-tokens'),
  })
  if (create.data) {
    const hint = 'It is shown only now. Programs send it in the header “Authorization: Token …”.'
    return <ShownOnce title={`Token “${name}”`} label="Token" value={create.data.token} hint={hint} onClose={onClose} />
  }
  return (
    <FormDialog
      title="Create an API token"
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
      <RoleField organizationId={organizationId} value={role} onChange={setRole} />
      <SelectField label="Valid" value={days} onChange={setDays} options={lives} />
    </FormDialog>
  )
}

/** Pure: the end of a token's life. Null if it has none. */
const endOf = (days: string, now: number): string | null =>
  days === '' ? null : new Date(now + Number(days) * 86_400_000).toISOString()
