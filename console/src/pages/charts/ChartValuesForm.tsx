import { useSuspenseQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { choices } from '../../api/reads-making.ts'
import { useForm } from '../../api/use-form.ts'
import { chartValueFields, chartValues } from '../../forms/chart-values.ts'
import { asBody, asDraft } from '../../forms/draft.ts'
import { FormFields } from '../../forms/FormFields.tsx'
import { Button } from '../../ui/Button.tsx'
import { ChangedByOthers } from '../../ui/ChangedByOthers.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { CheckSource } from '../CheckSource.tsx'
import styles from './Charts.module.css'

interface ChartValuesFormProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly chart: Awaited<ReturnType<typeof api.getHelm>>
}

/** Changes the values with which a chart is installed. */
export function ChartValuesForm({ organizationId, environmentId, chart }: ChartValuesFormProps) {
  const { data: among } = useSuspenseQuery(choices(organizationId, environmentId))
  const form = useForm({
    fields: chartValueFields(among),
    initial: chartValues(asDraft(chart)),
    send: (draft) => api.editHelm({ helmId: chart.id, body: asBody(draft) }),
    changes: [['environment', environmentId]],
  })
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (!form.isBusy && form.isDirty) form.submit()
      }}
    >
      <FormFields {...form.inputs} />
      <CheckSource {...{ organizationId, environmentId, kind: 'helm', draft: form.draft }} />
      <Problem error={form.error} />
      <ChangedByOthers fields={form.others} />
      <div className={styles['row']}>
        <Button
          type="submit"
          look="main"
          isBusy={form.isBusy}
          refusal={form.isDirty ? undefined : 'nothing is changed'}
        >
          Save
        </Button>
        <Button onClick={form.reset} refusal={form.isDirty ? undefined : 'nothing is changed'}>
          Reset
        </Button>
        <span role="status">{form.isDirty ? 'There are changes that are not saved.' : 'Everything is saved.'}</span>
      </div>
    </form>
  )
}
