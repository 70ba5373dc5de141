import { inOrganization } from '../../api/reads-organization.ts'
import type { TagGroup, TagGroupOperations } from '../../api/tag-groups.ts'
import { useForm } from '../../api/use-form.ts'
import { asDraft } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { pick } from '../../forms/record.ts'
import { FormDialog } from '../../ui/Dialog.tsx'

interface TagGroupFormProps {
  readonly organizationId: string
  readonly groups: TagGroupOperations
  /** The one to edit. Undefined for a new one. */
  readonly given: TagGroup | undefined
  readonly onClose: () => void
}

/** Creates a group of labels or annotations, or replaces it. */
export function TagGroupForm({ organizationId, groups, given, onClose }: TagGroupFormProps) {
  const form = useForm({
    fields: groups.fields,
    initial: given ? pick(asDraft(given), ...Object.keys(groups.initial)) : groups.initial,
    send: (draft) => (given ? groups.edit(organizationId, given.id, draft) : groups.create(organizationId, draft)),
    changes: [inOrganization(organizationId, groups.noun)],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={given ? `Edit “${given.name}”` : `Create a ${groups.noun}`}
      isOpen
      onClose={onClose}
      action="Save"
      {...form.dialog}
    >
      {given && <p>Each service and cluster with the group has the change after its next deployment.</p>}
      <FormFields {...form.inputs} />
    </FormDialog>
  )
}
