import { useParams } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { useForm } from '../../api/use-form.ts'
import { asBody } from '../../forms/draft.ts'
import type { FieldSpec } from '../../forms/fields.ts'
import { Section } from '../../ui/Page.tsx'
import { SettingsForm } from '../SettingsForm.tsx'
import { ProjectTerraform } from '../terraform/ProjectTerraform.tsx'
import { ProjectFrame, type ProjectParams } from './ProjectFrame.tsx'

const fields: readonly FieldSpec[] = [
  { path: 'name', label: 'Name', type: 'text', isRequired: true },
  { path: 'description', label: 'Description', type: 'text', keepsEmpty: true },
]

/** The settings of a project. */
export function ProjectSettingsPage() {
  const params = useParams({ from: '/organizations/$organizationId/projects/$projectId/settings' })
  return (
    <ProjectFrame params={params}>
      {({ name, description }) => (
        <>
          <Section title="General">
            <General {...{ params, name, description }} />
          </Section>
          <ProjectTerraform projectId={params.projectId} name={name} />
        </>
      )}
    </ProjectFrame>
  )
}

interface GeneralProps {
  readonly params: ProjectParams
  readonly name: string
  readonly description: string
}

function General({ params: { organizationId, projectId }, name, description }: GeneralProps) {
  const form = useForm({
    fields,
    initial: { name, description },
    send: (draft) => api.editProject({ projectId, body: asBody(draft) }),
    changes: [
      ['organization', organizationId, 'projects'],
      ['project', projectId],
    ],
  })
  return <SettingsForm form={form} needs="editProject" />
}
