import { useState } from 'react'
import { useChange } from '../api/change.ts'
import type { CustomDomain, DomainOperations } from '../api/domains.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import { CheckField, TextField } from '../ui/Field.tsx'

interface DomainFormProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly operations: DomainOperations
  /** The domain to edit. Undefined for a new one. */
  readonly given: CustomDomain | undefined
  readonly onClose: () => void
}

/** Adds a custom domain, or replaces one. */
export function DomainForm({ environmentId, serviceId, operations, given, onClose }: DomainFormProps) {
  const [domain, setDomain] = useState(given?.domain ?? '')
  const [hasCertificate, setCertificate] = useState(given?.generate_certificate ?? true)
  const save = useChange({
    change: () => {
      const body = { domain, generate_certificate: hasCertificate }
      return given ? operations.edit(serviceId, given.id, body) : operations.create(serviceId, body)
    },
    makesOld: ['environment', environmentId],
    onDone: onClose,
  })
  return (
    <FormDialog
      title={given ? `Edit ${given.domain}` : 'Add a custom domain'}
      isOpen
      onClose={onClose}
      action="Save"
      isBusy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      <TextField
        label="Domain"
        value={domain}
        onChange={setDomain}
        placeholder="shop.example.org"
        hint="“*.example.org” stands for every name with one more label. Another name needs its own proof."
        isRequired
      />
      <CheckField label="Ask for a certificate" isChecked={hasCertificate} onChange={setCertificate} />
    </FormDialog>
  )
}
