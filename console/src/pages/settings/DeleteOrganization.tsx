import { useNavigate } from '@tanstack/react-router'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'

interface DeleteOrganizationProps {
  readonly organization: { readonly id: string; readonly name: string }
  readonly onClose: () => void
}

const losses = [
  'its members, roles and invitations',
  'its API tokens and git tokens',
  'its registries, Helm repositories and webhooks',
  'the records of its clusters',
]

/** Deletes an organization without projects, and leads to another one. */
export function DeleteOrganization({ organization, onClose }: DeleteOrganizationProps) {
  const navigate = useNavigate()
  const remove = useChange({
    change: () => api.deleteOrganization({ organizationId: organization.id }),
    makesOld: ['organizations'],
    onDone: () => {
      onClose()
      void navigate({ to: '/' })
    },
  })
  return (
    <ConfirmDialog
      noun="organization"
      name={organization.name}
      losses={losses}
      isBusy={remove.isPending}
      error={remove.error}
      onConfirm={() => remove.mutate()}
      preview={() => remove.preview()}
      onClose={onClose}
    >
      <p>An organization with projects cannot be deleted.</p>
    </ConfirmDialog>
  )
}
