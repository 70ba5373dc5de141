import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, queries } from '../../api/client.ts'
import { recordRequests } from '../../api/record-requests.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { CheckField, TextField } from '../../ui/Field.tsx'

interface CloneDialogProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly name: string
  readonly onClose: () => Promise<void>
}

/** Copies an environment under another name, with its data if wanted, and leads to the copy. */
export function CloneDialog({ organizationId, environmentId, name, onClose }: CloneDialogProps) {
  const [copyName, setCopyName] = useState(`${name} copy`)
  const [withData, setWithData] = useState(false)
  const navigate = useNavigate()
  const send = () => api.cloneEnvironment({ environmentId, body: { name: copyName, with_data: withData } })
  const clone = useMutation({
    mutationFn: send,
    onSuccess: async ({ id }) => {
      await queries.invalidateQueries({ queryKey: ['organization', organizationId, 'projects'] })
      // Going back shows the page without the dialog.
      await onClose()
      await navigate({
        to: '/organizations/$organizationId/environments/$environmentId',
        params: { organizationId, environmentId: id },
      })
    },
  })
  return (
    <FormDialog
      title={`Copy ${name}`}
      isOpen
      onClose={onClose}
      action="Copy"
      isBusy={clone.isPending}
      error={clone.error}
      onSubmit={() => clone.mutate()}
      preview={() => recordRequests(send)}
    >
      <TextField label="Name of the copy" value={copyName} onChange={setCopyName} isRequired />
      <CheckField label="Copy volumes and databases, too" isChecked={withData} onChange={setWithData} />
    </FormDialog>
  )
}
