import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { apiTokens } from '../../api/reads-access.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import { RemoveButton } from './RemoveButton.tsx'
import { TokenForm } from './TokenForm.tsx'

const columns = ['Token', 'Role', 'Created', 'Last used', 'Expires', 'Actions']

/** The API tokens of an organization. Their values were shown once, when they were created. */
export function TokensPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(apiTokens(organizationId))
  const [isCreating, setCreating] = useState(false)
  const may = useMay()
  return (
    <Page
      title="API tokens"
      actions={
        <Button look="main" refusal={may('createOrganizationApiToken')} onClick={() => setCreating(true)}>
          Create a token
        </Button>
      }
    >
      {isCreating && <TokenForm organizationId={organizationId} onClose={() => setCreating(false)} />}
      {data.length === 0 && <Empty>There is no API token yet. Programs sign in with one.</Empty>}
      {data.length > 0 && (
        <Table label="API tokens" columns={columns}>
          {data.map((token) => (
            <tr key={token.id}>
              <td>
                {token.name} <code>{token.token_hint}</code>
                {token.description && <div>{token.description}</div>}
              </td>
              <td>{token.role_name}</td>
              <td>
                <When at={token.created_at} />
              </td>
              <td>{token.last_used_at ? <When at={token.last_used_at} /> : 'never'}</td>
              <td>{token.expires_at ? <When at={token.expires_at} /> : 'never'}</td>
              <td>
                <RemoveButton
                  action="Revoke"
                  what={`the token “${token.name}”`}
                  refusal={may('deleteOrganizationApiToken')}
                  remove={() => api.deleteOrganizationApiToken({ organizationId, apiTokenId: token.id })}
                  makesOld={inOrganization(organizationId, 'api-tokens')}
                >
                  <p>Programs that use it are refused at once.</p>
                </RemoveButton>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Page>
  )
}
