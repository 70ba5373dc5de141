import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { GitWebhook } from '../../api/reads-git-webhooks.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { SelectField, TextField } from '../../ui/Field.tsx'
import { ShownOnce } from '../../ui/ShownOnce.tsx'

const providers = [
  { value: 'GITHUB', label: 'GitHub' },
  { value: 'GITLAB', label: 'GitLab' },
  { value: 'BITBUCKET', label: 'Bitbucket' },
] as const

interface GitWebhookFormProps {
  readonly organizationId: string
  /** The webhook that gets a new secret. Undefined for a new one. */
  readonly given: GitWebhook | undefined
  readonly onClose: () => void
}

/** Creates a git webhook, or replaces the secret of one. The secret is shown once. */
export function GitWebhookForm({ organizationId, given, onClose }: GitWebhookFormProps) {
  const [provider, setProvider] = useState<GitWebhook['provider']>('GITHUB')
  const [description, setDescription] = useState('')
  const save = useChange({
    change: () =>
      given
        ? api.rotateGitWebhookSecret({ organizationId, gitWebhookId: given.id })
        : api.createGitWebhook({ organizationId, body: { provider, description: description || null } }),
    makesOld: inOrganization(organizationId, 'git-webhooks'),
  })
  if (save.data) {
    const hint = `Enter it at the provider, beside the address ${save.data.url}. It is shown only now.`
    return <ShownOnce title="The secret" label="Secret" value={save.data.secret} hint={hint} onClose={onClose} />
  }
  return (
    <FormDialog
      title={given ? 'Replace the secret?' : 'Create a git webhook'}
      isOpen
      onClose={onClose}
      action={given ? 'Replace' : 'Create'}
      isBusy={save.isPending}
      error={save.error}
      onSubmit={() => save.mutate()}
      preview={() => save.preview()}
    >
      {given ? (
        <p>Messages that are signed with the previous secret are refused at once.</p>
      ) : (
        <>
          <SelectField
            label="Provider"
            value={provider}
            onChange={(next) => setProvider(providers.find(({ value }) => value === next)?.value ?? provider)}
            options={providers}
          />
          <TextField label="Description" value={description} onChange={setDescription} />
        </>
      )}
    </FormDialog>
  )
}
