import { useNavigate } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { organizations } from '../../api/reads.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { newOrganizationFields } from '../../forms/organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'

/** Creates an organization, whose owner is the person, and leads to it. */
export function NewOrganization({ onClose }: { readonly onClose: () => void }) {
  const navigate = useNavigate()
  const form = useForm({
    fields: newOrganizationFields,
    initial: { name: '', description: null },
    send: (draft) => api.createOrganization({ body: asBody(draft) }),
    changes: [organizations().queryKey],
    onDone: ({ id: organizationId }) => {
      onClose()
      void navigate({ to: '/organizations/$organizationId', params: { organizationId } })
    },
  })
  return (
    <FormDialog title="New organization" isOpen onClose={onClose} action="Create the organization" {...form.dialog}>
      <p>It has members, projects and a cluster of its own. You are its owner.</p>
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
