import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type Webhook, webhooks } from '../../api/reads-webhooks.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { useMay } from '../use-may.ts'
import { WebhookForm } from './WebhookForm.tsx'

/** The addresses that hear of deployments. */
export function WebhooksPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(webhooks(organizationId))
  const [isCreating, setCreating] = useState(false)
  const may = useMay()
  return (
    <Page
      title="Webhooks"
      actions={
        <Button look="main" refusal={may('createOrganizationWebhook')} onClick={() => setCreating(true)}>
          Create a webhook
        </Button>
      }
    >
      {isCreating && (
        <WebhookForm organizationId={organizationId} given={undefined} onClose={() => setCreating(false)} />
      )}
      {data.length === 0 && <Empty>There is no webhook yet. One sends deployments to an address of yours.</Empty>}
      {data.length > 0 && (
        <Table label="Webhooks" columns={['Address', 'Events', 'Only for', 'State']}>
          {data.map((webhook) => (
            <tr key={webhook.id}>
              <td>
                <Link
                  to="/organizations/$organizationId/settings/webhooks/$webhookId"
                  params={{ organizationId, webhookId: webhook.id }}
                >
                  {webhook.target_url}
                </Link>
                {webhook.description && <div>{webhook.description}</div>}
              </td>
              <td>{webhook.events.map(wordsOf).join(', ')}</td>
              <td>{filterOf(webhook)}</td>
              <td>{webhook.enabled ? 'enabled' : 'disabled'}</td>
            </tr>
          ))}
        </Table>
      )}
    </Page>
  )
}

/** Pure: the projects and modes of a webhook in words. */
export const filterOf = ({ project_names_filter: projects, environment_types_filter: modes }: Webhook): string =>
  [...projects, ...modes.map(wordsOf)].join(', ') || 'everything'
