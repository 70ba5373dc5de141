import { useSuspenseQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { customRoles, inOrganization } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page, Section } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { useMay } from '../use-may.ts'
import { RemoveButton } from './RemoveButton.tsx'
import { RoleCreateForm } from './RoleCreateForm.tsx'

/** The roles that every organization has. docs/authorization.md lists every operation of each. */
const builtIn = [
  { name: 'Owner', about: 'Everything, and to delete the organization. One person.' },
  { name: 'Admin', about: 'Everything else in the organization, its projects and its clusters.' },
  { name: 'DevOps', about: 'Everything in projects. Deploys and edits in the organization and its clusters.' },
  { name: 'Billing Manager', about: 'Reads the organization and its clusters, and no project.' },
  { name: 'Viewer', about: 'Reads everything.' },
]

/** The roles of an organization: the custom ones and the built-in ones. */
export function RolesPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(customRoles(organizationId))
  const [isCreating, setCreating] = useState(false)
  const may = useMay()
  return (
    <Page
      title="Roles"
      actions={
        <Button look="main" refusal={may('createOrganizationCustomRole')} onClick={() => setCreating(true)}>
          Create a role
        </Button>
      }
    >
      {isCreating && <RoleCreateForm organizationId={organizationId} onClose={() => setCreating(false)} />}
      {data.length === 0 ? (
        <Empty>There is no custom role yet. One says project by project what its members may do.</Empty>
      ) : (
        <Table label="Custom roles" columns={['Role', 'Description', 'Projects', 'Actions']}>
          {data.map((role) => (
            <tr key={role.id}>
              <td>
                <Link
                  to="/organizations/$organizationId/settings/roles/$roleId"
                  params={{ organizationId, roleId: role.id }}
                >
                  {role.name}
                </Link>
              </td>
              <td>{role.description}</td>
              <td>{role.project_permissions.filter(isOpen).length}</td>
              <td>
                <RemoveButton
                  action="Delete"
                  what={`the role “${role.name}”`}
                  refusal={may('deleteOrganizationCustomRole')}
                  remove={() => api.deleteOrganizationCustomRole({ organizationId, customRoleId: role.id })}
                  makesOld={inOrganization(organizationId, 'roles')}
                >
                  <p>A role that somebody still has cannot be deleted.</p>
                </RemoveButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Section title="Built-in roles">
        <Table label="Built-in roles" columns={['Role', 'May do']}>
          {builtIn.map(({ name, about }) => (
            <tr key={name}>
              <td>{name}</td>
              <td>{about}</td>
            </tr>
          ))}
        </Table>
      </Section>
    </Page>
  )
}

interface ProjectPermissions {
  readonly is_admin: boolean
  readonly permissions: readonly { readonly permission: string }[]
}

/** Pure: whether a role may do anything in the project. */
const isOpen = ({ is_admin: isAdmin, permissions }: ProjectPermissions): boolean =>
  isAdmin || permissions.some(({ permission }) => permission !== 'NO_ACCESS')
