import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { lossesOf } from '../../api/losses.ts'
import { services } from '../../api/reads.ts'
import type { StageRow } from '../../api/stage-rows.ts'
import styles from '../../forms/Group.module.css'
import { serviceIds } from '../../forms/service-ids.ts'
import { FormDialog } from '../../ui/Dialog.tsx'
import { CheckField, SelectField, TextField } from '../../ui/Field.tsx'
import { Losses } from '../../ui/Losses.tsx'
import { useMay } from '../use-may.ts'

const actions = {
  stop: { label: 'Stop', operation: 'stopSelectedServices', effect: 'They stop. Their data and settings stay.' },
  uninstall: {
    label: 'Uninstall',
    operation: 'uninstallSelectedServices',
    effect: 'They stop, and their data is deleted. Their settings and variables stay.',
  },
  delete: {
    label: 'Delete',
    operation: 'deleteSelectedServices',
    effect: 'They are deleted with their data, settings and variables.',
  },
} as const
type Action = keyof typeof actions
const options = Object.entries(actions).map(([value, { label }]) => ({ value, label }))

interface SeveralServicesProps {
  readonly environmentId: string
  /** The name of the environment. Somebody who deletes services types it. */
  readonly name: string
  readonly rows: readonly StageRow[]
  readonly onClose: () => void
}

/** Stops, uninstalls or deletes the chosen services of an environment by one request. */
export function SeveralServices({ environmentId, name, rows, onClose }: SeveralServicesProps) {
  const [action, setAction] = useState<Action>('stop')
  const [chosenIds, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [typed, setTyped] = useState('')
  const { data: list } = useSuspenseQuery(services(environmentId))
  const all = rows.flatMap((stage) => stage.services)
  const chosen = all.filter(({ id }) => chosenIds.has(id))
  const losses = action === 'stop' ? [] : list.filter(({ id }) => chosenIds.has(id)).flatMap((one) => lossesOf(one))
  const isWhole = chosen.length === all.length
  const change = useChange({
    change: () => send(action, { environmentId, body: serviceIds(chosen), isWhole }),
    makesOld: ['environment', environmentId],
    onDone: onClose,
  })
  const { label, operation, effect } = actions[action]
  const forbidden = useMay()(operation)
  const untyped = action === 'delete' && typed !== name ? 'the name is not typed yet' : undefined
  return (
    <FormDialog
      title="Several services"
      isOpen
      onClose={onClose}
      action={`${label} ${chosen.length} of ${all.length}`}
      look={action === 'stop' ? 'main' : 'danger'}
      isBusy={change.isPending}
      error={change.error}
      refusal={forbidden ?? (chosen.length === 0 ? 'no service is chosen' : untyped)}
      onSubmit={() => change.mutate()}
      preview={() => change.preview()}
    >
      <SelectField label="Action" value={action} onChange={(value) => setAction(actionOf(value))} options={options} />
      <p>{effect}</p>
      <fieldset className={styles['group']}>
        <legend>Services</legend>
        {all.map((service) => (
          <CheckField
            key={service.id}
            label={service.name}
            isChecked={chosenIds.has(service.id)}
            onChange={(isChecked) => setChosen(changed(chosenIds, service.id, isChecked))}
          />
        ))}
      </fieldset>
      <Losses losses={losses} />
      {action === 'delete' && <TextField label={`Type “${name}” to confirm`} value={typed} onChange={setTyped} />}
    </FormDialog>
  )
}

interface Request {
  readonly environmentId: string
  readonly body: ReturnType<typeof serviceIds>
  /** Whether every service of the environment is chosen. */
  readonly isWhole: boolean
}

function send(action: Action, { environmentId, body, isWhole }: Request): Promise<unknown> {
  if (action === 'stop') return api.stopSelectedServices({ environmentId, body })
  if (action === 'delete') return api.deleteSelectedServices({ environmentId, body })
  return isWhole ? api.uninstallEnvironment({ environmentId }) : api.uninstallSelectedServices({ environmentId, body })
}

const actionOf = (value: string): Action => (value === 'uninstall' || value === 'delete' ? value : 'stop')

function changed(ids: ReadonlySet<string>, id: string, isChosen: boolean): ReadonlySet<string> {
  const others = [...ids].filter((one) => one !== id)
  return new Set(isChosen ? [...others, id] : others)
}
