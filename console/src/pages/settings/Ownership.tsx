import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization, members } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/Dialog.tsx'
import { SelectField } from '../../ui/Field.tsx'
import { useMay } from '../use-may.ts'

/** The owner of an organization, who may name another one. */
export function Ownership({ organizationId }: { readonly organizationId: string }) {
  const { data } = useSuspenseQuery(members(organizationId))
  const [next, setNext] = useState<string>()
  const owner = data.find(({ role }) => role === 'OWNER')
  const others = data.filter(({ id }) => id !== owner?.id)
  const transfer = useChange({
    change: (userId: string) => api.postOrganizationTransferOwnership({ organizationId, body: { user_id: userId } }),
    makesOld: inOrganization(organizationId),
    onDone: () => setNext(undefined),
  })
  const refusal = others[0] ? undefined : 'there is no other member'
  return (
    <>
      <p>{owner ? `${owner.name}, ${owner.email}` : 'The organization has no owner.'}</p>
      <Button
        refusal={useMay()('postOrganizationTransferOwnership') ?? refusal}
        onClick={() => setNext(others[0]?.id ?? '')}
      >
        Transfer the ownership …
      </Button>
      <FormDialog
        title="Transfer the ownership"
        isOpen={next !== undefined}
        onClose={() => setNext(undefined)}
        action="Transfer"
        look="danger"
        isBusy={transfer.isPending}
        error={transfer.error}
        onSubmit={() => next !== undefined && transfer.mutate(next)}
        preview={() => transfer.preview(next ?? '')}
      >
        <SelectField
          label="New owner"
          value={next ?? ''}
          onChange={setNext}
          options={others.map(({ id, name, email }) => ({ value: id, label: `${name}, ${email}` }))}
        />
        <p>The previous owner becomes an Admin. Only the new owner can undo that.</p>
      </FormDialog>
    </>
  )
}
