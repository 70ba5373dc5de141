import { useSuspenseQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { account } from '../../api/reads-organization-record.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import type { FieldSpec } from '../../forms/fields.ts'
import { Button } from '../../ui/Button.tsx'
import { Page } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import styles from './Settings.module.css'

const fields: readonly FieldSpec[] = [
  { path: 'communication_email', label: 'Contact address', type: 'text', hint: 'Empty: the address of the account.' },
]

/** The account of the person who is signed in. */
export function AccountPage() {
  const { data } = useSuspenseQuery(account())
  const { first_name: first, last_name: last, nickname } = data
  return (
    <Page title="Your account">
      <p>{[first, last].filter(Boolean).join(' ') || nickname}</p>
      <ContactForm key={data.communication_email} address={data.communication_email} />
    </Page>
  )
}

function ContactForm({ address }: { readonly address: string }) {
  const form = useForm({
    fields,
    initial: { communication_email: address },
    send: (draft) => api.editAccountInformation({ body: asBody(draft) }),
    changes: [account().queryKey],
  })
  const refusal = form.isDirty ? undefined : 'nothing is changed'
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
      <Button type="submit" look="main" refusal={refusal} isBusy={form.isBusy}>
        Save
      </Button>
    </form>
  )
}
