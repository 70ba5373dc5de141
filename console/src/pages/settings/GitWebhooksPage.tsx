import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { type GitWebhook, gitWebhooks } from '../../api/reads-git-webhooks.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Empty, Page, Section } from '../../ui/Page.tsx'
import { wordsOf } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import { GitPushes } from './GitPushes.tsx'
import { GitWebhookDeliveries } from './GitWebhookDeliveries.tsx'
import { GitWebhookForm } from './GitWebhookForm.tsx'
import { RemoveButton } from './RemoveButton.tsx'
import styles from './Settings.module.css'

/** The addresses to which git providers report pushes, and the last pushes. */
export function GitWebhooksPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(gitWebhooks(organizationId))
  const [asked, setAsked] = useState<GitWebhook | 'new'>()
  const may = useMay()
  return (
    <Page
      title="Git webhooks"
      actions={
        <Button look="main" refusal={may('createGitWebhook')} onClick={() => setAsked('new')}>
          Create a git webhook
        </Button>
      }
    >
      {asked && (
        <GitWebhookForm
          organizationId={organizationId}
          given={asked === 'new' ? undefined : asked}
          onClose={() => setAsked(undefined)}
        />
      )}
      {data.length === 0 && (
        <Empty>There is no git webhook yet. A provider reports its pushes to one, and services are deployed.</Empty>
      )}
      {data.length > 0 && (
        <Table label="Git webhooks" columns={['Provider', 'Address', 'Last message', 'Actions']}>
          {data.map((webhook) => (
            <Row key={webhook.id} {...{ organizationId, webhook }} onRotate={() => setAsked(webhook)} />
          ))}
        </Table>
      )}
      <Section title="Last pushes">
        <GitPushes organizationId={organizationId} />
      </Section>
    </Page>
  )
}

interface RowProps {
  readonly organizationId: string
  readonly webhook: GitWebhook
  readonly onRotate: () => void
}

function Row({ organizationId, webhook, onRotate }: RowProps) {
  const { id: gitWebhookId, provider, description, url, last_delivery_at: at, last_delivery_status: status } = webhook
  const name = description || wordsOf(provider)
  const may = useMay()
  return (
    <tr>
      <td>
        {wordsOf(provider)}
        {description && <div className={styles['quiet']}>{description}</div>}
      </td>
      <td>
        <code>{url}</code> <CopyButton textOf={() => url}>Copy the address</CopyButton>
      </td>
      <td>
        {at ? <When at={at} /> : 'never'}
        {status && <div className={styles['quiet']}>{wordsOf(status)}</div>}
      </td>
      <td>
        <div className={styles['row']}>
          <GitWebhookDeliveries {...{ organizationId, gitWebhookId, name }} />
          <Button label={`New secret of ${name}`} refusal={may('rotateGitWebhookSecret')} onClick={onRotate}>
            New secret …
          </Button>
          <RemoveButton
            action="Delete"
            what={`the git webhook “${name}”`}
            refusal={may('deleteGitWebhook')}
            remove={() => api.deleteGitWebhook({ organizationId, gitWebhookId })}
            makesOld={inOrganization(organizationId, 'git-webhooks')}
          >
            <p>The provider is answered with 404 from now on. Remove the address there, too.</p>
          </RemoveButton>
        </div>
      </td>
    </tr>
  )
}
