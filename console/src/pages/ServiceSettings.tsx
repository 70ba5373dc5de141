import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useMutation, useSuspenseQuery } from '@tanstack/react-query'
import { queries } from '../api/client.ts'
import type { Service } from '../api/losses.ts'
import { choices } from '../api/reads-making.ts'
import { operationOf } from '../api/rights.ts'
import { type Effect, effectOf, serviceBodies } from '../api/service-bodies.ts'
import { useForm } from '../api/use-form.ts'
import { asDraft, type Draft } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { settings } from '../forms/settings.ts'
import { AsCurl } from '../ui/AsCurl.tsx'
import { Button } from '../ui/Button.tsx'
import { ChangedByOthers } from '../ui/ChangedByOthers.tsx'
import { Section } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { CheckSource } from './CheckSource.tsx'
import styles from './ServiceSettings.module.css'
import { useMay } from './use-may.ts'

interface ServiceSettingsProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
  readonly service: Service
}

/** The form of the settings. The body has everything that it shows. */
export function ServiceSettings({ organizationId, environmentId, kind, serviceId, service }: ServiceSettingsProps) {
  const { data: among } = useSuspenseQuery(choices(organizationId, environmentId))
  const { groups, draft: draftOf } = settings[kind]
  const form = useForm({
    fields: (draft) => groups(among, draft).flatMap(({ fields }) => fields),
    initial: draftOf(asDraft(service)),
    send: (draft) => serviceBodies[kind].edit(serviceId, draft),
    changes: [['environment', environmentId]],
    onDone: () => {
      const now = queries.getQueryData<readonly Service[]>(['environment', environmentId, 'services'])
      const saved = now?.find(({ id }) => id === serviceId)
      if (saved) form.inputs.onChange(draftOf(asDraft(saved)))
    },
  })
  const preview = useMutation({ mutationFn: (draft: Draft) => effectOf(kind, serviceId, draft) })
  const may = useMay()
  const unchanged = form.isDirty ? undefined : 'nothing is changed'
  return (
    <form
      className={styles['form']}
      onSubmit={(event) => {
        event.preventDefault()
        if (form.isDirty && !form.isBusy) form.submit()
      }}
    >
      {groups(among, form.draft).map(({ title, fields }) => (
        <Section key={title} title={title}>
          <FormFields {...form.inputs} fields={fields} />
          {title === 'Source' && <CheckSource {...{ organizationId, environmentId, kind, draft: form.draft }} />}
        </Section>
      ))}
      <div className={styles['bar']}>
        <Problem error={form.error ?? preview.error} />
        <ChangedByOthers fields={form.others} />
        {preview.data && form.isDirty && <EffectOfChange effect={preview.data} />}
        <span className={styles['state']}>{form.isDirty ? 'There are unsaved changes.' : 'Everything is saved.'}</span>
        <Button
          refusal={may(operationOf('edit', kind)) ?? unchanged}
          isBusy={preview.isPending}
          onClick={() => preview.mutate(form.draft)}
        >
          Show the effect
        </Button>
        {form.isDirty && <AsCurl preview={form.preview} />}
        <Button refusal={unchanged} onClick={form.reset}>
          Reset
        </Button>
        <Button type="submit" look="main" refusal={may(operationOf('edit', kind)) ?? unchanged} isBusy={form.isBusy}>
          Save
        </Button>
      </div>
    </form>
  )
}

const words = {
  FIRST_START: 'starts the service for the first time',
  START: 'starts the service',
  REBUILD: 'builds a new image and replaces the running version',
  RESTART: 'replaces the running version',
  KEEP: 'leaves the running version as it is',
  SKIP: 'leaves the service out',
} as const

const EffectOfChange = ({ effect: { changed, services } }: { readonly effect: Effect }) => (
  <p role="status" className={styles['effect']}>
    {changed.length === 0 ? 'No setting changes.' : `Changes ${changed.join(', ')}.`}
    {services.map(({ name, effect }) => ` The next deployment of ${name} ${words[effect]}.`)}
  </p>
)
