import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { inOrganization } from '../../api/reads-organization.ts'
import { registryStore, repositoryStore, type Store, type StoreOperations, stores } from '../../api/stores.ts'
import { Button } from '../../ui/Button.tsx'
import { Empty, Page } from '../../ui/Page.tsx'
import { Table } from '../../ui/Table.tsx'
import { useMay } from '../use-may.ts'
import { RemoveButton } from './RemoveButton.tsx'
import styles from './Settings.module.css'
import { StoreForm } from './StoreForm.tsx'
import { UsedBy } from './UsedBy.tsx'

export const RegistriesPage = () => <StorePage store={registryStore} />
export const HelmRepositoriesPage = () => <StorePage store={repositoryStore} />

/** The container registries, or the Helm repositories, of an organization. */
function StorePage({ store }: { readonly store: StoreOperations }) {
  const { organizationId } = useParams({ from: '/organizations/$organizationId' })
  const { data } = useSuspenseQuery(stores(store, organizationId))
  const [edited, setEdited] = useState<Store | 'new'>()
  const may = useMay()
  return (
    <Page
      title={store.plural}
      actions={
        <Button look="main" refusal={may(store.names.create)} onClick={() => setEdited('new')}>
          Add a {store.noun}
        </Button>
      }
    >
      {edited && (
        <StoreForm
          {...{ organizationId, store }}
          given={edited === 'new' ? undefined : edited}
          onClose={() => setEdited(undefined)}
        />
      )}
      {data.length === 0 && <Empty>There is no {store.noun} yet.</Empty>}
      {data.length > 0 && (
        <Table label={store.plural} columns={['Name', 'Kind', 'Address', 'Used by', 'Actions']}>
          {data.map((one) => (
            <Row key={one.id} {...{ organizationId, store, one }} onEdit={() => setEdited(one)} />
          ))}
        </Table>
      )}
    </Page>
  )
}

interface RowProps {
  readonly organizationId: string
  readonly store: StoreOperations
  readonly one: Store
  readonly onEdit: () => void
}

function Row({ organizationId, store, one, onEdit }: RowProps) {
  const { id, name } = one
  const may = useMay()
  return (
    <tr>
      <td>
        {name}
        {one.description && <div className={styles['quiet']}>{one.description}</div>}
      </td>
      <td>{one.kind}</td>
      <td>{one.url}</td>
      <td>
        <UsedBy
          {...{ organizationId, id, name, count: one.associated_services_count }}
          read={() => store.services(organizationId, id)}
        />
      </td>
      <td>
        <div className={styles['row']}>
          <Button label={`Edit ${name}`} refusal={may(store.names.edit)} onClick={onEdit}>
            Edit
          </Button>
          <RemoveButton
            action="Delete"
            what={`the ${store.noun} “${name}”`}
            refusal={may(store.names.remove)}
            remove={() => store.remove(organizationId, id)}
            makesOld={inOrganization(organizationId, store.plural)}
          >
            <p>Its credentials are deleted with it. One that a service uses cannot be deleted.</p>
          </RemoveButton>
        </div>
      </td>
    </tr>
  )
}
