import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { SelectField, TextField } from '../../ui/Field.tsx'

type GitToken = Awaited<ReturnType<typeof api.getOrganizationGitToken>>

const providers = [
  { value: 'GITHUB', label: 'GitHub' },
  { value: 'GITLAB', label: 'GitLab' },
  { value: 'BITBUCKET', label: 'Bitbucket' },
] as const

interface GitTokenFormProps {
  readonly organizationId: string
  /** The token to edit. Undefined for a new one. */
  readonly token: GitToken | undefined
  readonly onClose: () => void
}

/** Stores a git token, or replaces it. */
export function GitTokenForm({ organizationId, token, onClose }: GitTokenFormProps) {
  const [name, setName] = useState(token?.name ?? '')
  const [type, setType] = useState<GitToken['type']>(token?.type ?? 'GITHUB')
  const [workspace, setWorkspace] = useState(token?.workspace ?? '')
  const [value, setValue] = useState('')
  const body = { name, type, description: token?.description ?? null, workspace: workspace || null }
  const save = useChange({
    change: () =>
      token
        ? api.editGitToken({ organizationId, gitTokenId: token.id, body: { ...body, token: value } })
        : api.createGitToken({ organizationId, body: { ...body, token: value } }),
    makesOld: inOrganization(organizationId, 'git-tokens'),
    onDone: onClose,
  })
  return (
    <FormDialog
      title={token ? `Edit “${token.name}”` : 'Add a git token'}
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
        label="Provider"
        value={type}
        onChange={(next) => setType(providers.find(({ value: one }) => one === next)?.value ?? type)}
        options={providers}
      />
      {type === 'BITBUCKET' && <TextField label="Workspace" value={workspace} onChange={setWorkspace} />}
      <TextField
        label="Token"
        type="password"
        value={value}
        onChange={setValue}
        isRequired={!token}
        hint={token ? 'Leave it empty to keep the stored one.' : 'It is stored sealed and never shown again.'}
      />
    </FormDialog>
  )
}
