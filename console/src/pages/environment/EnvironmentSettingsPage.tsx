import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { environment } from '../../api/reads.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { type FieldSpec, optionsOf } from '../../forms/fields.ts'
import { Section } from '../../ui/Page.tsx'
import { exactTime } from '../../ui/When.tsx'
import { SettingsForm } from '../SettingsForm.tsx'
import { EnvironmentFrame } from './EnvironmentFrame.tsx'
import type { EnvironmentParams } from './EnvironmentTabs.tsx'
import styles from './Facts.module.css'

const fields: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', isRequired: true },
  {
    path: 'mode',
    label: 'Mode',
    type: 'select',
    hint: 'Roles may allow less in production.',
    options: optionsOf('DEVELOPMENT', 'STAGING', 'PRODUCTION', 'PREVIEW'),
  },
]

/** The settings of an environment, and the facts that no request changes. */
export function EnvironmentSettingsPage() {
  const params = useParams({ from: '/organizations/$organizationId/environments/$environmentId/settings' })
  const { data: about } = useSuspenseQuery(environment(params.environmentId))
  return (
    <EnvironmentFrame params={params}>
      <Section title="General">
        <General params={params} />
      </Section>
      <Section title="Facts">
        <dl className={styles['facts']}>
          <dt>Cluster</dt>
          <dd>{about.cluster_name}. A copy may be on another one.</dd>
          <dt>Created</dt>
          <dd>{exactTime(about.created_at)}</dd>
          {about.expires_at && (
            <>
              <dt>Expires</dt>
              <dd>{exactTime(about.expires_at)}</dd>
            </>
          )}
          <dt>Id</dt>
          <dd>
            <code>{about.id}</code>
          </dd>
        </dl>
      </Section>
    </EnvironmentFrame>
  )
}

function General({ params: { organizationId, environmentId } }: { readonly params: EnvironmentParams }) {
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const form = useForm({
    fields,
    initial: { name: about.name, mode: about.mode },
    send: (draft) => api.editEnvironment({ environmentId, body: asBody(draft) }),
    changes: [
      ['environment', environmentId],
      ['organization', organizationId, 'projects'],
    ],
  })
  return <SettingsForm form={form} needs="editEnvironment" />
}
