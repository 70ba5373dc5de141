import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { webhooks } from '../../api/reads-webhooks.ts'
import { Button } from '../../ui/Button.tsx'
import { Page, Section } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Missing } from '../Failed.tsx'
import { useMay } from '../use-may.ts'
import { Deliveries } from './Deliveries.tsx'
import { RemoveButton } from './RemoveButton.tsx'
import { WebhookForm } from './WebhookForm.tsx'
import { filterOf } from './WebhooksPage.tsx'

/** A webhook, with its last deliveries. */
export function WebhookPage() {
  const { organizationId, webhookId } = useParams({
    from: '/organizations/$organizationId/settings/webhooks/$webhookId',
  })
  const { data } = useSuspenseQuery(webhooks(organizationId))
  const [isEditing, setEditing] = useState(false)
  const navigate = useNavigate()
  const may = useMay()
  const webhook = data.find(({ id }) => id === webhookId)
  if (!webhook) return <Missing />
  const remove = async (): Promise<void> => {
    await api.deleteOrganizationWebhook({ organizationId, webhookId })
    await navigate({ to: '/organizations/$organizationId/settings/webhooks', params: { organizationId } })
  }
  return (
    <Page
      title={webhook.target_url}
      beside={<span>{webhook.enabled ? 'enabled' : 'disabled'}</span>}
      actions={
        <>
          <RemoveButton
            action="Delete"
            what="the webhook"
            refusal={may('deleteOrganizationWebhook')}
            remove={remove}
            makesOld={inOrganization(organizationId, 'webhooks')}
          >
            <p>Deliveries that are pending are not sent.</p>
          </RemoveButton>
          <Button refusal={may('editOrganizationWebhook')} onClick={() => setEditing(true)}>
            Edit
          </Button>
        </>
      }
    >
      {isEditing && <WebhookForm organizationId={organizationId} given={webhook} onClose={() => setEditing(false)} />}
      <p>
        {webhook.events.map(wordsOf).join(', ')}, for {filterOf(webhook)}. {webhook.description}
      </p>
      <Section title="Deliveries">
        <Deliveries organizationId={organizationId} webhook={webhook} />
      </Section>
    </Page>
  )
}
