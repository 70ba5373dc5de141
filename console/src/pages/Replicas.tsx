import type { ServicePlace } from '../api/follow-lines.ts'
import { type Replica, useReplicas } from '../api/running.ts'
import { Empty, Section } from '../ui/Page.tsx'
import { Reason } from '../ui/Reason.tsx'
import { State } from '../ui/State.tsx'
import { Table } from '../ui/Table.tsx'
import { When } from '../ui/When.tsx'

const columns = ['Replica', 'State', 'Since', 'Restarts']

/** The running replicas of a service, with the reason if one is not well. */
export function Replicas({ place }: { readonly place: ServicePlace }) {
  const replicas = useReplicas(place)
  return (
    <Section title="Replicas">
      {replicas?.length === 0 && <Empty>Nothing runs.</Empty>}
      {replicas === undefined && <p role="status">Asking for the replicas …</p>}
      {replicas && replicas.length > 0 && (
        <Table label="Replicas" columns={columns}>
          {replicas.map((replica) => (
            <ReplicaRow key={replica.name} replica={replica} />
          ))}
        </Table>
      )}
    </Section>
  )
}

function ReplicaRow({ replica }: { readonly replica: Replica }) {
  const { name, state, state_message: message, started_at: startedAt, restart_count: restarts } = replica
  return (
    <tr>
      <td>{name}</td>
      <td>
        <State state={state} />
        <Reason text={message} />
      </td>
      <td>{startedAt && <When at={new Date(startedAt).toISOString()} />}</td>
      <td>{restarts}</td>
    </tr>
  )
}
