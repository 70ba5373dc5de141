import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../../api/client.ts'
import { lifecycleTemplates } from '../../api/reads-jobs.ts'
import type { Draft } from '../../forms/draft.ts'
import { fromTemplate, type LifecycleTemplate } from '../../forms/lifecycle-template.ts'
import { SelectField } from '../../ui/Field.tsx'
import { Problem } from '../../ui/Problem.tsx'

interface StartFromTemplateProps {
  readonly environmentId: string
  readonly draft: Draft
  readonly onChange: (draft: Draft) => void
}

/** Fills the form of a job by a template, and names the variables that the job then needs. */
export function StartFromTemplate({ environmentId, draft, onChange }: StartFromTemplateProps) {
  const { data: templates = [], error } = useQuery(lifecycleTemplates(environmentId))
  const filled = useMutation({
    mutationFn: (lifecycleTemplateId: string) =>
      api.getEnvironmentLifecycleTemplate({ environmentId, lifecycleTemplateId }),
    onSuccess: (template) => onChange(fromTemplate(draft, template)),
  })
  const { data: template } = filled
  const options = templates.map(({ id, name, description }) => ({ value: id, label: `${name}: ${description}` }))
  return (
    <>
      <Problem error={error ?? filled.error} />
      <SelectField
        label="Template"
        value={template?.id ?? ''}
        onChange={(id) => (id === '' ? filled.reset() : filled.mutate(id))}
        options={[{ value: '', label: 'none' }, ...options]}
      />
      {template && <Needs template={template} />}
    </>
  )
}

const Needs = ({ template: { variables } }: { readonly template: LifecycleTemplate }) =>
  variables.length > 0 && (
    <>
      <p role="status">The job needs these variables before its first deployment:</p>
      <dl>
        {variables.map(({ name, description, default: usual, is_secret }) => (
          <div key={name}>
            <dt>
              <code>{name}</code>
              {is_secret && ' (secret)'}
            </dt>
            <dd>
              {description}
              {usual !== '' && ` Usually ${usual}.`}
            </dd>
          </div>
        ))}
      </dl>
    </>
  )
