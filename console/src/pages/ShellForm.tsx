import { useState } from 'react'
import type { Replica } from '../api/running.ts'
import type { ShellWish } from '../api/shell.ts'
import { Button } from '../ui/Button.tsx'
import { SelectField, TextField } from '../ui/Field.tsx'
import styles from './ShellForm.module.css'

interface ShellFormProps {
  readonly replicas: readonly Replica[]
  readonly onOpen: (wish: Omit<ShellWish, 'place'>) => void
}

const optionsOf = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }))

/** Chooses the replica, its container if it has several, and the command. */
export function ShellForm({ replicas, onOpen }: ShellFormProps) {
  const [pod, setPod] = useState('')
  const [container, setContainer] = useState('')
  const [command, setCommand] = useState('sh')
  // A replica that was chosen may be gone by now.
  const chosen = replicas.find(({ name }) => name === pod) ?? replicas[0]
  const containers = chosen?.containers.map(({ name }) => name) ?? []
  const inside = containers.includes(container) ? container : containers[0]
  const parts = command.split(' ').filter(Boolean)
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (!chosen || parts.length === 0) return
        onOpen({ pod: chosen.name, command: parts, ...(containers.length > 1 && { container: inside }) })
      }}
    >
      <SelectField
        label="Replica"
        value={chosen?.name ?? ''}
        options={optionsOf(replicas.map(({ name }) => name))}
        onChange={setPod}
      />
      {containers.length > 1 && (
        <SelectField label="Container" value={inside ?? ''} options={optionsOf(containers)} onChange={setContainer} />
      )}
      <TextField
        label="Command"
        value={command}
        onChange={setCommand}
        hint="Its arguments are separated by spaces. Nothing interprets quotes."
        isRequired
      />
      <Button type="submit" look="main" refusal={parts.length === 0 ? 'there is no command' : undefined}>
        Open the shell
      </Button>
    </form>
  )
}
