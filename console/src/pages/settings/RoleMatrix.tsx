import type { api } from '../../api/client.ts'
import { Empty } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { PermissionSelect } from './PermissionSelect.tsx'

type CustomRole = Awaited<ReturnType<typeof api.getOrganizationCustomRole>>
type Project = CustomRole['project_permissions'][number]
type Cluster = CustomRole['cluster_permissions'][number]
type Mode = Project['permissions'][number]['environment_type']
type Level = Project['permissions'][number]['permission']

const modes: Readonly<Record<Mode, string>> = {
  PRODUCTION: 'Production',
  STAGING: 'Staging',
  DEVELOPMENT: 'Development',
  PREVIEW: 'Preview',
}
const modeNames = Object.keys(modes) as Mode[]
const levels: Readonly<Record<Level, string>> = {
  NO_ACCESS: 'no access',
  VIEWER: 'viewer',
  DEPLOYER: 'deployer',
  MANAGER: 'manager',
}
const clusterLevels: Readonly<Record<Cluster['permission'], string>> = {
  VIEWER: 'viewer',
  ENV_CREATOR: 'creates environments',
  ADMIN: 'admin',
}

interface ProjectMatrixProps {
  readonly projects: CustomRole['project_permissions']
  readonly onChange: (projects: CustomRole['project_permissions']) => void
}

/** A row for each project, and a column for each mode of environments. */
export function ProjectMatrix({ projects, onChange }: ProjectMatrixProps) {
  if (projects.length === 0) return <Empty>There is no project yet.</Empty>
  const replace = (next: Project) =>
    onChange(projects.map((project) => (project.project_id === next.project_id ? next : project)))
  return (
    <Table label="Permissions on projects" columns={['Project', 'Admin', ...Object.values(modes)]}>
      {projects.map((project) => (
        <tr key={project.project_id}>
          <th scope="row">{project.project_name}</th>
          <td>
            <input
              type="checkbox"
              aria-label={`Admin of ${project.project_name}`}
              checked={project.is_admin}
              onChange={({ target }) => replace({ ...project, is_admin: target.checked })}
            />
          </td>
          {modeNames.map((mode) => (
            <td key={mode}>
              {project.is_admin ? (
                'everything'
              ) : (
                <PermissionSelect
                  label={`${modes[mode]} environments of ${project.project_name}`}
                  options={levels}
                  value={levelOf(project, mode)}
                  onChange={(level) => replace(withLevel(project, mode, level))}
                />
              )}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  )
}

interface ClusterMatrixProps {
  readonly clusters: CustomRole['cluster_permissions']
  readonly onChange: (clusters: CustomRole['cluster_permissions']) => void
}

export const ClusterMatrix = ({ clusters, onChange }: ClusterMatrixProps) => (
  <Table label="Permissions on clusters" columns={['Cluster', 'Permission']}>
    {clusters.map(({ cluster_id: id, cluster_name: name, permission }) => (
      <tr key={id}>
        <th scope="row">{name}</th>
        <td>
          <PermissionSelect
            label={`Permission on ${name}`}
            options={clusterLevels}
            value={permission}
            onChange={(next) =>
              onChange(clusters.map((one) => (one.cluster_id === id ? { ...one, permission: next } : one)))
            }
          />
        </td>
      </tr>
    ))}
  </Table>
)

/** Pure: the permission on environments of a mode. A mode that is not listed is closed. */
export const levelOf = ({ permissions }: Project, mode: Mode): Level =>
  permissions.find(({ environment_type: type }) => type === mode)?.permission ?? 'NO_ACCESS'

/** Pure: the project with another permission for one mode. */
export const withLevel = (project: Project, mode: Mode, permission: Level): Project => ({
  ...project,
  permissions: modeNames.map((type) => ({
    environment_type: type,
    permission: type === mode ? permission : levelOf(project, type),
  })),
})
