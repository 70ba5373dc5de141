import { type Backup, type BackupPlace, backupRefusal } from '../../api/backups.ts'
import { bytes } from '../../ui/amounts.ts'
import { Empty } from '../../ui/Page.tsx'
import { type AnyState, State } from '../../ui/State.tsx'
import { Table } from '../../ui/Table.tsx'
import { When } from '../../ui/When.tsx'
import { BackupActions } from './BackupActions.tsx'
import styles from './Backups.module.css'

interface BackupListProps {
  readonly place: BackupPlace
  readonly name: string
  readonly list: readonly Backup[]
}

/** The backups of a service, newest first. */
export function BackupList({ place, name, list }: BackupListProps) {
  if (list.length === 0) return <Empty>There is no backup yet.</Empty>
  return (
    <Table label="Backups" columns={['Backup', 'State', 'Size', 'Proof', 'Restore', 'Actions']}>
      {list.map((backup) => (
        <tr key={backup.id}>
          <td>
            {backup.name}
            {backup.message && <div className={styles['quiet']}>{backup.message}</div>}
            <div className={styles['quiet']}>
              <When at={backup.created_at} />
            </div>
          </td>
          <td>
            <Result {...backup.status} />
          </td>
          <td>{backup.status.state === 'SUCCEEDED' ? bytes(backup.size_in_bytes) : '–'}</td>
          <td>
            <Result {...backup.proof} />
          </td>
          <td>
            <Result {...backup.restore} />
          </td>
          <td>
            <BackupActions {...{ place, name, backup }} refusal={backupRefusal(backup)} />
          </td>
        </tr>
      ))}
    </Table>
  )
}

interface ResultProps {
  readonly state: AnyState | 'NONE'
  readonly message: string | null
  readonly at?: string | null
}

/** A step with a backup: its state, when it was, and its result. */
function Result({ state, message, at }: ResultProps) {
  if (state === 'NONE') return <span className={styles['quiet']}>–</span>
  return (
    <>
      <State state={state} />
      {at && (
        <div className={styles['quiet']}>
          <When at={at} />
        </div>
      )}
      {message && <div className={styles['message']}>{message}</div>}
    </>
  )
}
