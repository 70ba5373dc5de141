import type { CustomDomain, DomainOperations } from '../api/domains.ts'
import { Button } from '../ui/Button.tsx'
import { CopyButton } from '../ui/CopyButton.tsx'
import { Table } from '../ui/Table.tsx'
import { DomainCertificate } from './DomainCertificate.tsx'
import styles from './DomainItem.module.css'
import { RemoveButton } from './settings/RemoveButton.tsx'
import { useMay } from './use-may.ts'

interface DomainItemProps {
  readonly environmentId: string
  readonly serviceId: string
  readonly operations: DomainOperations
  readonly domain: CustomDomain
  /** The result of the last check, as a sentence. */
  readonly checked: string | undefined
  readonly onEdit: () => void
  readonly remove: () => Promise<unknown>
}

/** A custom domain with the state of its proof and of its certificate. */
export function DomainItem(props: DomainItemProps) {
  const { environmentId, serviceId, operations, domain, checked, onEdit, remove } = props
  const { domain: name, proof } = domain
  const may = useMay()
  return (
    <article className={styles['domain']}>
      <header>
        <strong>{name}</strong>
        <span data-state={proof.state}>{proofs[proof.state]}</span>
        <span className={styles['actions']}>
          <Button label={`Edit ${name}`} refusal={may('editCustomDomain')} onClick={onEdit}>
            Edit
          </Button>
          <RemoveButton
            action="Delete"
            what={`the domain ${name}`}
            refusal={may('deleteCustomDomain')}
            remove={remove}
            makesOld={['environment', environmentId]}
          >
            <p>Its requests no longer reach the service.</p>
          </RemoveButton>
        </span>
      </header>
      {proof.method && proof.state === 'PROVEN' && <p>Proven by {methods[proof.method]}.</p>}
      {proof.message && <p className={styles['message']}>{proof.message}</p>}
      {checked && (
        <p role="status" className={styles['message']}>
          {checked}
        </p>
      )}
      {proof.state !== 'PROVEN' && <Records domain={domain} />}
      <DomainCertificate {...{ environmentId, serviceId, operations, domain }} />
    </article>
  )
}

const proofs = {
  PENDING: 'waits for its proof, without traffic',
  PROVEN: 'has traffic',
  LOST: 'has traffic, but DNS no longer proves it',
  RELEASED: 'was not proven in time, without traffic',
} as const

const methods = {
  CNAME: 'its CNAME record',
  TXT: 'its TXT record',
  WAIVED: 'the operator of the platform',
  NO_PUBLIC_DNS: 'its ending, which public DNS does not have',
  BEFORE_REQUIRED: 'its age: it is older than proofs',
} as const

/** The records that prove a domain, ready to be copied. */
const Records = ({ domain: { domain, proof } }: { readonly domain: CustomDomain }) => (
  <>
    <p>Set one of these records where the DNS of the domain is managed:</p>
    <Table label={`Records of ${domain}`} columns={['Type', 'Name', 'Value', 'Actions']}>
      {proof.records.map(({ type, name, value }) => (
        <tr key={type}>
          <td>{type}</td>
          <td className={styles['code']}>{name}</td>
          <td className={styles['code']}>{value}</td>
          <td>
            <CopyButton textOf={() => value}>{`Copy the ${type} value`}</CopyButton>
          </td>
        </tr>
      ))}
    </Table>
  </>
)
