import { useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { type StackPlace, type StackRun, type StackState, stackStates } from '../../api/reads-stacks.ts'
import { bytes } from '../../ui/amounts.ts'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { RemoveButton } from '../settings/RemoveButton.tsx'
import { useMay } from '../use-may.ts'

interface StackStatesProps {
  readonly place: StackPlace
  readonly runs: readonly StackRun[]
}

/** The kept versions of the state. Nothing shows their content. */
export function StackStates({ place, runs }: StackStatesProps) {
  const { data, error } = useQuery(stackStates(place))
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  if (data.length === 0) return <Empty>The platform keeps no state yet, or the backend of the files has it.</Empty>
  const running = runs.some(({ status }) => status === 'RUNNING') ? 'a run holds the lock' : undefined
  return (
    <Table label="Versions of the state" columns={['Version', 'Serial', 'Size', 'Written', 'Actions']}>
      {data.map((state) => (
        <tr key={state.id}>
          <td>
            {state.number}
            {state.is_current && ' (current)'}
            {state.restored_from !== null && ` restored from ${state.restored_from}`}
          </td>
          <td>{state.serial}</td>
          <td>{bytes(state.size_in_bytes)}</td>
          <td>
            <When at={state.created_at} />
          </td>
          <td>
            <Restore {...{ place, state }} refusal={state.is_current ? 'the next run uses it already' : running} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

interface RestoreProps {
  readonly place: StackPlace
  readonly state: StackState
  readonly refusal: string | undefined
}

function Restore({ place, state, refusal }: RestoreProps) {
  const may = useMay()
  return (
    <RemoveButton
      action="Restore"
      what={`version ${state.number} of the state`}
      refusal={may('restoreTerraformState') ?? refusal}
      remove={() => api.restoreTerraformState({ terraformId: place.serviceId, stateId: state.id })}
      makesOld={['environment', place.environmentId]}
    >
      <p>It becomes the newest version. No resource changes: the next plan shows how they differ from it.</p>
    </RemoveButton>
  )
}
