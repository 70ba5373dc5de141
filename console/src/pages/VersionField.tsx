import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { serviceCommits } from '../api/service-commits.ts'
import { type ChosenService, versionNoun } from '../forms/deployment-body.ts'
import { Button } from '../ui/Button.tsx'
import { SelectField, TextField } from '../ui/Field.tsx'
import { Problem } from '../ui/Problem.tsx'

interface VersionFieldProps {
  readonly name: string
  readonly service: ChosenService
  /** The branch of its settings. Null if it is not from git. */
  readonly branch: string | null
  readonly onChange: (version: string) => void
}

/** Chooses another commit, tag or chart version of a service than that of its settings. */
export function VersionField({ name, service, branch, onChange }: VersionFieldProps) {
  const [isOpen, setOpen] = useState(false)
  const noun = versionNoun(service)
  if (noun === undefined) return null
  if (!isOpen) {
    return (
      <Button label={`Another ${noun} of ${name}`} onClick={() => setOpen(true)}>
        {`Another ${noun} …`}
      </Button>
    )
  }
  const label = `${noun} of ${name}`
  return service.isFromGit ? (
    <CommitField {...{ label, service, branch, onChange }} />
  ) : (
    <TextField label={label} value={service.version} onChange={onChange} hint="Empty: that of the settings." />
  )
}

function CommitField({
  label,
  service,
  branch,
  onChange,
}: Omit<VersionFieldProps, 'name'> & { readonly label: string }) {
  const { data, error } = useQuery(serviceCommits(service.kind, service.id))
  if (!data) return error ? <Problem error={error} /> : <p role="status">Asking the git server …</p>
  const commits = data.map(({ git_commit_id: value, message, tag }) => ({
    value,
    label: `${value.slice(0, 8)} ${tag && `(${tag}) `}${message.split('\n')[0]}`,
  }))
  return (
    <SelectField
      label={label}
      value={service.version}
      onChange={onChange}
      options={[{ value: '', label: `newest of ${branch}` }, ...commits]}
    />
  )
}
