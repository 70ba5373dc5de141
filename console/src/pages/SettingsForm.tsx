import type { OperationName } from '../api/rights.ts'
import type { useForm } from '../api/use-form.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { AsCurl } from '../ui/AsCurl.tsx'
import { Button } from '../ui/Button.tsx'
import { ChangedByOthers } from '../ui/ChangedByOthers.tsx'
import { Problem } from '../ui/Problem.tsx'
import plan from './plan/Plan.module.css'
import { useMay } from './use-may.ts'

interface SettingsFormProps {
  readonly form: Omit<ReturnType<typeof useForm<unknown>>, 'draft'>
  /** The operation that saves it. */
  readonly needs: OperationName
}

/** A short form on a page. It says what it lacks, and shows its request. */
export function SettingsForm({ form, needs }: SettingsFormProps) {
  const refusal = useMay()(needs) ?? (form.isDirty ? undefined : 'nothing is changed')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (refusal === undefined && !form.isBusy) form.submit()
      }}
    >
      <FormFields {...form.inputs} />
      <Problem error={form.error} />
      <ChangedByOthers fields={form.others} />
      <div className={plan['actions']}>
        <Button type="submit" look="main" refusal={refusal} isBusy={form.isBusy}>
          Save
        </Button>
        {form.isDirty && (
          <>
            <Button onClick={form.reset}>Reset</Button>
            <AsCurl preview={form.preview} />
          </>
        )}
        <span role="status">{!form.isDirty && form.isSent && 'Saved.'}</span>
      </div>
    </form>
  )
}
