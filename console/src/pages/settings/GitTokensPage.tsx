import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { gitTokens } from '../../api/reads-access.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { useMay } from '../use-may.ts'
import { GitTokenForm } from './GitTokenForm.tsx'
import { RemoveButton } from './RemoveButton.tsx'
import styles from './Settings.module.css'
import { UsedBy } from './UsedBy.tsx'

/** The tokens with which the platform reads private repositories. */
export function GitTokensPage() {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(gitTokens(organizationId))
  const [edited, setEdited] = useState<(typeof data)[number] | 'new'>()
  const may = useMay()
  return (
    <Page
      title="Git tokens"
      actions={
        <Button look="main" refusal={may('createGitToken')} onClick={() => setEdited('new')}>
          Add a git token
        </Button>
      }
    >
      {edited && (
        <GitTokenForm
          organizationId={organizationId}
          token={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {data.length === 0 && <Empty>There is no git token yet. Public repositories need none.</Empty>}
      {data.length > 0 && (
        <Table label="Git tokens" columns={['Name', 'Provider', 'Used by', 'Actions']}>
          {data.map((token) => (
            <tr key={token.id}>
              <td>
                {token.name}
                {token.description && <div className={styles['quiet']}>{token.description}</div>}
              </td>
              <td>{token.type.toLowerCase()}</td>
              <td>
                <UsedBy
                  {...{ organizationId, id: token.id, name: token.name, count: token.associated_services_count }}
                  read={() => api.getGitTokenAssociatedServices({ organizationId, gitTokenId: token.id })}
                />
              </td>
              <td>
                <div className={styles['row']}>
                  <Button label={`Edit ${token.name}`} refusal={may('editGitToken')} onClick={() => setEdited(token)}>
                    Edit
                  </Button>
                  <RemoveButton
                    action="Delete"
                    what={`the git token “${token.name}”`}
                    refusal={may('deleteGitToken')}
                    remove={() => api.deleteGitToken({ organizationId, gitTokenId: token.id })}
                    makesOld={inOrganization(organizationId, 'git-tokens')}
                  >
                    <p>A token that a service uses cannot be deleted.</p>
                  </RemoveButton>
                </div>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </Page>
  )
}
