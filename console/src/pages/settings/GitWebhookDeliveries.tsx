import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { gitWebhookDeliveries } from '../../api/reads-git-webhooks.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Page.tsx'
import { PlainDialog } from '../../ui/PlainDialog.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'

interface GitWebhookDeliveriesProps {
  readonly organizationId: string
  readonly gitWebhookId: string
  readonly name: string
}

/** A button that shows the last messages of a provider. */
export function GitWebhookDeliveries({ name, ...place }: GitWebhookDeliveriesProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button label={`Show the messages of ${name}`} onClick={() => setOpen(true)}>
        Messages
      </Button>
      {isOpen && (
        <PlainDialog title={`Messages of ${name}`} onClose={() => setOpen(false)}>
          <Messages {...place} />
        </PlainDialog>
      )}
    </>
  )
}

function Messages({ organizationId, gitWebhookId }: Omit<GitWebhookDeliveriesProps, 'name'>) {
  const { data, error } = useQuery(gitWebhookDeliveries(organizationId, gitWebhookId))
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  if (data.length === 0) return <Empty>No message with a valid signature has arrived yet.</Empty>
  return (
    <Table label="Messages" columns={['When', 'Event', 'Result']}>
      {data.map(({ id, created_at: at, event, status, reason }) => (
        <tr key={id}>
          <td>
            <When at={at} />
          </td>
          <td>{event}</td>
          <td>
            {wordsOf(status)}
            {reason && `: ${reason}`}
          </td>
        </tr>
      ))}
    </Table>
  )
}
