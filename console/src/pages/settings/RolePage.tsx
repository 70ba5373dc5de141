import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { customRoles, inOrganization } from '../../api/reads-organization.ts'
import { AsCurl } from '../../ui/AsCurl.tsx'
import { Button } from '../../ui/Button.tsx'
import { Page, Section } from '../../ui/Page.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { Missing } from '../Failed.tsx'
import { useMay } from '../use-may.ts'
import { ClusterMatrix, ProjectMatrix } from './RoleMatrix.tsx'

type CustomRole = Awaited<ReturnType<typeof api.getOrganizationCustomRole>>

/** The permissions of a custom role, project by project. */
export function RolePage() {
  const { organizationId, roleId } = useParams({ from: '/organizations/$organizationId/settings/roles/$roleId' })
  const { data } = useSuspenseQuery(customRoles(organizationId))
  const [isSaved, setSaved] = useState(false)
  const role = data.find(({ id }) => id === roleId)
  // The key discards edits when the role is another or newer one.
  return role ? (
    <RoleEditor
      key={`${role.id} ${role.updated_at}`}
      {...{ organizationId, role, isSaved }}
      onSaved={() => setSaved(true)}
    />
  ) : (
    <Missing />
  )
}

interface RoleEditorProps {
  readonly organizationId: string
  readonly role: CustomRole
  readonly isSaved: boolean
  readonly onSaved: () => void
}

function RoleEditor({ organizationId, role, isSaved, onSaved }: RoleEditorProps) {
  const [projects, setProjects] = useState(role.project_permissions)
  const [clusters, setClusters] = useState(role.cluster_permissions)
  const save = useChange({
    change: () =>
      api.editOrganizationCustomRole({
        organizationId,
        customRoleId: role.id,
        body: {
          name: role.name,
          description: role.description,
          cluster_permissions: clusters,
          project_permissions: projects,
        },
      }),
    makesOld: inOrganization(organizationId, 'roles'),
    onDone: onSaved,
  })
  const may = useMay()
  const isSame = projects === role.project_permissions && clusters === role.cluster_permissions
  return (
    <Page
      title={role.name}
      beside={<span>{role.description}</span>}
      actions={
        <>
          {!isSame && <AsCurl preview={() => save.preview()} />}
          <Button
            look="main"
            isBusy={save.isPending}
            refusal={may('editOrganizationCustomRole') ?? (isSame ? 'Nothing has changed.' : undefined)}
            onClick={() => save.mutate()}
          >
            Save
          </Button>
        </>
      }
    >
      <Problem error={save.error} />
      <p role="status">{isSaved && isSame && 'Saved. It holds from the next request of its members on.'}</p>
      <Section title="Projects">
        <ProjectMatrix projects={projects} onChange={setProjects} />
      </Section>
      <Section title="Clusters">
        <ClusterMatrix clusters={clusters} onChange={setClusters} />
      </Section>
    </Page>
  )
}
