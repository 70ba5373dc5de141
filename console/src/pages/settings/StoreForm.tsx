import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { configOf, isSecret, type Store, type StoreOperations, storeKinds } from '../../api/stores.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { SelectField, TextField } from '../../ui/Field.tsx'

interface StoreFormProps {
  readonly organizationId: string
  readonly store: StoreOperations
  /** The one to edit. Undefined for a new one. */
  readonly given: Store | undefined
  readonly onClose: () => void
}

/** Adds a container registry or a Helm repository, or replaces it. Its secrets are only written. */
export function StoreForm({ organizationId, store, given, onClose }: StoreFormProps) {
  const { data: kinds } = useSuspenseQuery(storeKinds(store))
  const [name, setName] = useState(given?.name ?? '')
  const [kind, setKind] = useState(given?.kind ?? kinds[0] ?? '')
  const [url, setUrl] = useState(given?.url ?? '')
  const [config, setConfig] = useState(given?.config ?? {})
  const { description = '', skip_tls_verification: skip } = given ?? {}
  const tls = skip === undefined ? {} : { skip_tls_verification: skip }
  const values = { name, description, kind, url: url || null, config, ...tls }
  const save = useChange({
    change: () => (given ? store.edit(organizationId, given.id, values) : store.create(organizationId, values)),
    makesOld: inOrganization(organizationId, store.plural),
    onDone: onClose,
  })
  return (
    <FormDialog
      title={given ? `Edit “${given.name}”` : `Add a ${store.noun}`}
      isOpen
      onClose={onClose}
      action="Save"
      isBusy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      <TextField label="Name" value={name} onChange={setName} isRequired />
      <SelectField
        label="Kind"
        value={kind}
        onChange={setKind}
        options={kinds.map((one) => ({ value: one, label: one }))}
      />
      <TextField
        label="Address"
        value={url}
        onChange={setUrl}
        hint="Many kinds have a usual one. Leave it empty then."
      />
      {configOf(kind).map((field) => (
        <TextField
          key={field}
          label={wordsOf(field)}
          type={isSecret(field) ? 'password' : 'text'}
          value={String(config[field] ?? '')}
          onChange={(value) => setConfig({ ...config, [field]: value })}
          hint={isSecret(field) && given ? 'Leave it empty to keep the stored one.' : undefined}
        />
      ))}
    </FormDialog>
  )
}

/** Pure: a name of the API as a label, such as "Secret access key". */
const wordsOf = (field: string): string => {
  const words = field.replaceAll('_', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
