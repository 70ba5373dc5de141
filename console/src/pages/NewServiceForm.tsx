import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { kinds } from '../api/kinds.ts'
import { environment } from '../api/reads.ts'
import { choices } from '../api/reads-making.ts'
import { operationOf } from '../api/rights.ts'
import { serviceBodies } from '../api/service-bodies.ts'
import { useForm } from '../api/use-form.ts'
import { FormFields } from '../forms/FormFields.tsx'
import { newServices } from '../forms/new-services.ts'
import { AsCurl } from '../ui/AsCurl.tsx'
import { Button } from '../ui/Button.tsx'
import { Page } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import { CheckSource } from './CheckSource.tsx'
import { StartFromTemplate } from './jobs/StartFromTemplate.tsx'
import styles from './NewServicePage.module.css'
import { useMay } from './use-may.ts'

/** The form of a new service of one kind. It leads to the service, where Deploy is next. */
export function NewServiceForm() {
  const { organizationId, environmentId, kind } = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/new/$kind',
  })
  const navigate = useNavigate()
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: among } = useSuspenseQuery(choices(organizationId, environmentId))
  const { fields, initial } = newServices[kind]
  const refusal = useMay()(operationOf('create', kind))
  const form = useForm({
    fields: (draft) => fields(among, draft),
    initial: initial(among),
    send: (draft) => serviceBodies[kind].create(environmentId, draft),
    changes: [['environment', environmentId]],
    onDone: ({ id: serviceId }) =>
      void navigate({
        to: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId',
        params: { organizationId, environmentId, kind, serviceId },
      }),
  })
  return (
    <Page title={`New ${kinds[kind].noun.toLowerCase()} in ${about.name}`}>
      <form
        className={styles['form']}
        onSubmit={(event) => {
          event.preventDefault()
          if (!form.isBusy && refusal === undefined) form.submit()
        }}
      >
        {kind === 'job' && (
          <StartFromTemplate environmentId={environmentId} draft={form.draft} onChange={form.inputs.onChange} />
        )}
        <FormFields {...form.inputs} />
        <CheckSource {...{ organizationId, environmentId, kind, draft: form.draft }} />
        <Problem error={form.error} />
        <div className={styles['actions']}>
          <Button type="submit" look="main" isBusy={form.isBusy} refusal={refusal}>
            Create the service
          </Button>
          <AsCurl preview={form.preview} />
          <Link
            to="/organizations/$organizationId/environments/$environmentId/new"
            params={{ organizationId, environmentId }}
          >
            Another source
          </Link>
        </div>
      </form>
    </Page>
  )
}
