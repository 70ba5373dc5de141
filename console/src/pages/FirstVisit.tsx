import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { api, queries } from '../api/client.ts'
import { clusters } from '../api/reads-making.ts'
import { useForm } from '../api/use-form.ts'
import { asBody, type Draft } from '../forms/draft.ts'
import { FormFields } from '../forms/FormFields.tsx'
import type { FieldSpec } from '../forms/fields.ts'
import { Button } from '../ui/Button.tsx'
import { Section } from '../ui/Page.tsx'
import { Problem } from '../ui/Problem.tsx'
import styles from './FirstVisit.module.css'
import { useMay } from './use-may.ts'

const fields: readonly FieldSpec[] = [
  { path: 'project', label: 'Project', type: 'text', isRequired: true, hint: 'Such as a product or a team.' },
  { path: 'name', label: 'Environment', type: 'text', isRequired: true, hint: 'Its services reach each other.' },
]
const initial = { project: 'my-project', name: 'production', mode: 'PRODUCTION' }

interface FirstVisitProps {
  readonly organizationId: string
  /** The projects of the organization. None has an environment. */
  readonly projects: readonly { readonly id: string; readonly name: string }[]
}

/** The way to the first URL, for an organization without environments. Its first step is here. */
export function FirstVisit({ organizationId, projects }: FirstVisitProps) {
  const navigate = useNavigate()
  const { data: places } = useSuspenseQuery(clusters(organizationId))
  /** The project of a try whose environment was refused, before the list has it. */
  const made = useRef<{ readonly id: string; readonly name: string }>(undefined)
  const refusal = useMay()('createProject')
  const cluster = (places.find(({ is_default }) => is_default) ?? places[0])?.id
  const send = async ({ project, ...body }: Draft) => {
    const name = String(project)
    const known = [made.current, ...projects].find((one) => one?.name === name)
    made.current = known ?? (await api.createProject({ organizationId, body: { name } }))
    return api.createEnvironment({ projectId: made.current.id, body: asBody({ ...body, cluster }) })
  }
  const form = useForm({
    fields,
    initial,
    send,
    changes: [],
    onDone: async ({ id: environmentId }) => {
      await navigate({
        to: '/organizations/$organizationId/environments/$environmentId/new',
        params: { organizationId, environmentId },
      })
      await queries.invalidateQueries({ queryKey: ['organization', organizationId, 'projects'] })
    },
  })
  return (
    <Section title="Three steps to a URL">
      <ol className={styles['steps']}>
        <li>
          <p>Create a project with an environment.</p>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              if (!form.isBusy && refusal === undefined) form.submit()
            }}
          >
            <FormFields {...form.inputs} />
            <Problem error={form.error} />
            <Button type="submit" look="main" isBusy={form.isBusy} refusal={refusal}>
              Create both
            </Button>
          </form>
        </li>
        <li>Choose the source of a service: a repository, an image, a database, or another one.</li>
        <li>Deploy it. Its URL appears on its page, and answers as soon as the state is “deployed”.</li>
      </ol>
    </Section>
  )
}
