import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { usesAt, usesById, type VariableUse } from '../api/reads-variable-uses.ts'
import { type Variable, type VariablePlace, variables } from '../api/reads-variables.ts'
import { wordOf } from '../forms/plan-env.ts'
import { Button } from '../ui/Button.tsx'
import { CheckField } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Empty } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { Table } from '../ui/Table.tsx'
import { DeletedWith } from './DeletedWith.tsx'
import { PasteEnv } from './PasteEnv.tsx'
import { useMay } from './use-may.ts'
import { VariableDialog } from './VariableDialog.tsx'
import styles from './Variables.module.css'
import { VariableUsers } from './VariableUsers.tsx'
import type { VariableAct } from './variable-dialogs.ts'

const columns = ['Key', 'Value', 'Scope', 'Kind', 'Used by', 'Actions']
const none: never[] = []

/** Every variable and secret that is visible at a place, and their changes. */
export function Variables({ place }: { readonly place: VariablePlace }) {
  const { data } = useSuspenseQuery(variables(place))
  const { environmentId } = useParams({ strict: false })
  const uses = useQuery(usesAt(place, environmentId))
  const usesOf = useMemo(() => usesById(uses.data?.results ?? none), [uses.data])
  const [text, setText] = useState('')
  const [hasBuiltIn, setBuiltIn] = useState(false)
  const [change, setChange] = useState<VariableAct>()
  const [isPasting, setPasting] = useState(false)
  const refusal = useMay()('createVariable')
  const shown = data.filter(
    ({ key, scope }) => key.toLowerCase().includes(text.toLowerCase()) && (hasBuiltIn || scope !== 'BUILT_IN'),
  )
  return (
    <>
      <div className={styles['tools']}>
        <input
          type="search"
          className={styles['search']}
          placeholder="Keys that contain …"
          aria-label="Search in the keys"
          value={text}
          onChange={({ target }) => setText(target.value)}
        />
        <CheckField label="Show built-in variables" isChecked={hasBuiltIn} onChange={setBuiltIn} />
        <Button refusal={refusal} onClick={() => setPasting(true)}>
          Paste a .env file
        </Button>
        <Button look="main" refusal={refusal} onClick={() => setChange({ act: 'add' })}>
          New variable
        </Button>
      </div>
      <Problem error={uses.error} />
      {uses.data?.is_complete === false && <Notice>There are more uses of variables than are listed.</Notice>}
      {shown.length === 0 ? (
        <Empty>{text === '' ? 'There is no variable yet.' : 'No key contains this text.'}</Empty>
      ) : (
        <Table label="Variables" columns={columns}>
          {shown.map((variable) => (
            <Row
              key={variable.id}
              {...{ place, variable, refusal }}
              uses={usesOf.get(variable.id) ?? none}
              onChange={setChange}
            />
          ))}
        </Table>
      )}
      {change && (
        <VariableDialog place={place} change={change} onClose={() => setChange(undefined)}>
          {change.act === 'delete' && (
            <DeletedWith
              variableKey={change.variable.key}
              uses={uses.data && (usesOf.get(change.variable.id) ?? none)}
            />
          )}
        </VariableDialog>
      )}
      {isPasting && <PasteEnv place={place} present={data} onClose={() => setPasting(false)} />}
    </>
  )
}

interface RowProps {
  readonly place: VariablePlace
  readonly variable: Variable
  readonly uses: readonly VariableUse[]
  /** Why the variables cannot be changed. */
  readonly refusal: string | undefined
  readonly onChange: (change: VariableAct) => void
}

function Row({ place, variable, uses, refusal, onChange }: RowProps) {
  const { key, value, is_secret: isSecret, scope, variable_type: type, mount_path: path, description } = variable
  const isOwn = scope === place.scope
  const button = (act: 'edit' | 'override' | 'alias' | 'delete', word: string) => (
    <Button label={`${word} ${key}`} refusal={refusal} onClick={() => onChange({ act, variable })}>
      {word}
    </Button>
  )
  return (
    <tr>
      <td>
        <code>{key}</code>
        {description && <div className={styles['quiet']}>{description}</div>}
      </td>
      <td className={styles['value']}>
        {isSecret ? <span className={styles['quiet']}>secret</span> : <code>{value}</code>}
        {path && <div className={styles['quiet']}>file {path}</div>}
      </td>
      <td>{wordOf(scope)}</td>
      <td>{kindOf(variable, type)}</td>
      <td>
        <VariableUsers uses={uses} />
      </td>
      <td>
        <div className={styles['actions']}>
          {isOwn && button('edit', 'Change')}
          {!isOwn && scope !== 'BUILT_IN' && button('override', 'Override')}
          {type !== 'ALIAS' && button('alias', 'Alias')}
          {isOwn && button('delete', 'Delete')}
        </div>
      </td>
    </tr>
  )
}

/** Pure: the kind of a variable, and the one to which it refers. */
function kindOf({ aliased_variable: aliased, overridden_variable: overridden }: Variable, type: string): string {
  if (aliased) return `alias of ${aliased.key}`
  if (overridden) return `overrides that of the ${wordOf(overridden.scope)}`
  return wordOf(type)
}
