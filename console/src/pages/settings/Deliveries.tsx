import { useSuspenseQuery } from '@tanstack/react-query'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { type Delivery, deliveries, type Webhook } from '../../api/reads-webhooks.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import styles from './Settings.module.css'

interface DeliveriesProps {
  readonly organizationId: string
  readonly webhook: Webhook
}

/** The last deliveries of a webhook: what was sent, and what the receiver answered. */
export function Deliveries({ organizationId, webhook }: DeliveriesProps) {
  const { id: webhookId, enabled } = webhook
  const { data } = useSuspenseQuery(deliveries(organizationId, webhookId))
  const replay = useChange({
    change: (webhookEventId: string) => api.replayWebhookEvent({ organizationId, webhookId, webhookEventId }),
    makesOld: inOrganization(organizationId, 'deliveries', webhookId),
  })
  const may = useMay()
  if (data.length === 0) return <Empty>Nothing was sent yet.</Empty>
  return (
    <>
      <Problem error={replay.error} />
      <Table label="Deliveries" columns={['When', 'Event', 'State', 'Duration', 'Answer', 'Actions']}>
        {data.map((delivery) => (
          <tr key={delivery.id}>
            <td>
              <When at={delivery.created_at} />
            </td>
            <td>
              {wordsOf(delivery.matched_event)}
              {delivery.is_replay && <div className={styles['quiet']}>replay</div>}
            </td>
            <td>
              {delivery.state}
              {delivery.attempts > 1 && <div>after {delivery.attempts} tries</div>}
            </td>
            <td>{durationOf(delivery)}</td>
            <td>
              <Answer delivery={delivery} />
            </td>
            <td>
              <Button
                label={`Replay ${wordsOf(delivery.matched_event)}`}
                isBusy={replay.isPending && replay.variables === delivery.id}
                refusal={may('replayWebhookEvent') ?? refusalOf(delivery, enabled)}
                onClick={() => replay.mutate(delivery.id)}
              >
                Replay
              </Button>
            </td>
          </tr>
        ))}
      </Table>
    </>
  )
}

const Answer = ({ delivery }: { readonly delivery: Delivery }) => (
  <details>
    <summary>{delivery.target_response_status_code || 'none'}</summary>
    <p className={styles['answer']}>{delivery.target_response_body || 'It has no text.'}</p>
    <p className={styles['answer']}>{JSON.stringify(delivery.request, null, 2)}</p>
  </details>
)

/** Pure: the time from the event until the end of its delivery. */
const durationOf = ({ created_at: from, finished_at: to }: Delivery): string =>
  to === null ? '' : `${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s`

/** Pure: why the API would refuse a replay. */
function refusalOf({ state }: Delivery, isEnabled: boolean): string | undefined {
  if (!isEnabled) return 'The webhook is disabled. Enable it first.'
  return state === 'pending' ? 'It is still being delivered.' : undefined
}
