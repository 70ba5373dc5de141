import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { organizations } from '../../api/reads.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody, asDraft } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { organizationFields, organizationNames } from '../../forms/organization.ts'
import { pick } from '../../forms/record.ts'
import { AsCurl } from '../../ui/AsCurl.tsx'
import { Button } from '../../ui/Button.tsx'
import { Page, Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Missing } from '../Failed.tsx'
import { useMay } from '../use-may.ts'
import { DeleteOrganization } from './DeleteOrganization.tsx'
import { KeyRotation } from './KeyRotation.tsx'
import { NewOrganization } from './NewOrganization.tsx'
import { Ownership } from './Ownership.tsx'
import styles from './Settings.module.css'

type Organization = Awaited<ReturnType<typeof api.getOrganization>>

/** An organization: its record, its owner, its key and its end. */
export function OrganizationSettingsPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(organizations())
  const [isMaking, setMaking] = useState(false)
  const [isDeleting, setDeleting] = useState(false)
  const may = useMay()
  const organization = data.find(({ id }) => id === organizationId)
  if (!organization) return <Missing />
  return (
    <Page
      title="Organization"
      actions={
        <Button refusal={may('createOrganization')} onClick={() => setMaking(true)}>
          New organization
        </Button>
      }
    >
      {isMaking && <NewOrganization onClose={() => setMaking(false)} />}
      {isDeleting && <DeleteOrganization organization={organization} onClose={() => setDeleting(false)} />}
      <RecordForm key={organization.updated_at} organization={organization} />
      <Section title="Owner">
        <Ownership organizationId={organizationId} />
      </Section>
      <Section title="Encryption key">
        <KeyRotation organizationId={organizationId} />
      </Section>
      <Section title="Deletion">
        <p className={styles['quiet']}>Members, tokens, registries and clusters are deleted with an organization.</p>
        <Button look="danger" refusal={may('deleteOrganization')} onClick={() => setDeleting(true)}>
          Delete the organization …
        </Button>
      </Section>
    </Page>
  )
}

function RecordForm({ organization }: { readonly organization: Organization }) {
  const { id: organizationId } = organization
  const form = useForm({
    fields: organizationFields,
    initial: pick(asDraft(organization), ...organizationNames),
    send: (draft) => api.editOrganization({ organizationId, body: asBody(draft) }),
    changes: [organizations().queryKey],
  })
  const unchanged = form.isDirty ? undefined : 'nothing is changed'
  const refusal = useMay()('editOrganization') ?? unchanged
  return (
    <form
      className={styles['record']}
      onSubmit={(event) => {
        event.preventDefault()
        if (refusal === undefined && !form.isBusy) form.submit()
      }}
    >
      <FormFields {...form.inputs} />
      <Problem error={form.error} />
      <div className={styles['row']}>
        <Button type="submit" look="main" refusal={refusal} isBusy={form.isBusy}>
          Save
        </Button>
        <Button refusal={unchanged} onClick={form.reset}>
          Reset
        </Button>
        {form.isDirty && <AsCurl preview={form.preview} />}
      </div>
    </form>
  )
}
