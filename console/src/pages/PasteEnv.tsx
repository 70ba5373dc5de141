import { useState } from 'react'
import { useRequests } from '../api/change.ts'
import { type Variable, type VariablePlace, variablesKey } from '../api/reads-variables.ts'
import { envRequests } from '../api/send-env.ts'
import { parseEnv } from '../forms/parse-env.ts'
import { type EnvStep, planEnv } from '../forms/plan-env.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import { CheckField, TextField } from '../ui/Field.tsx'
import { Table } from '../ui/Table.tsx'

interface PasteEnvProps {
  readonly place: VariablePlace
  readonly present: readonly Variable[]
  readonly onClose: () => void
}

/** Shows the changes that a .env file makes, and then makes them. */
export function PasteEnv({ place, present, onClose }: PasteEnvProps) {
  const [text, setText] = useState('')
  const [areSecrets, setSecrets] = useState(false)
  const { entries, unread } = parseEnv(text)
  const steps = planEnv(entries, present, { scope: place.scope, areSecrets })
  const count = steps.filter(({ effect }) => effect !== 'same' && effect !== 'skip').length
  const send = useRequests({
    requests: () => envRequests(place, steps),
    secrets: steps.filter(({ isSecret }) => isSecret).map(({ value }) => value),
    // A change of variables makes services out of date.
    changes: [variablesKey, ['environment']],
    onDone: onClose,
  })
  return (
    <FormDialog
      title="Paste a .env file"
      isOpen
      onClose={onClose}
      action={count === 1 ? 'Make 1 change' : `Make ${count} changes`}
      isBusy={send.isPending}
      error={send.error}
      refusal={count === 0 ? 'it changes nothing' : undefined}
      onSubmit={() => send.mutate()}
      preview={() => send.preview()}
    >
      <TextField
        label="Content of the file"
        isLong
        value={text}
        onChange={setText}
        placeholder={'LOG_LEVEL=debug\nGREETING="hello\nworld"'}
        problem={unread.length > 0 ? `These lines cannot be read: ${unread.join(', ')}` : undefined}
      />
      <CheckField label="New ones are secrets" isChecked={areSecrets} onChange={setSecrets} />
      {steps.length > 0 && <Preview steps={steps} />}
    </FormDialog>
  )
}

const words = { create: 'new', override: 'override', change: 'changed', same: 'unchanged', skip: 'left out' } as const

const Preview = ({ steps }: { readonly steps: readonly EnvStep[] }) => (
  <Table label="Changes" columns={['Key', 'Effect', 'Because']}>
    {steps.map(({ key, effect, why }) => (
      <tr key={key}>
        <td>
          <code>{key}</code>
        </td>
        <td>{words[effect]}</td>
        <td>{why}</td>
      </tr>
    ))}
  </Table>
)
