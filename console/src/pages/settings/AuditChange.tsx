import { fieldChanges } from '../../api/audit-changes.ts'
import styles from './Settings.module.css'

interface AuditChangeProps {
  readonly before: string | null
  readonly after: string | null
}

/** The fields of a change, before and after side by side. */
export function AuditChange({ before, after }: AuditChangeProps) {
  const changes = fieldChanges(before, after)
  if (changes.length === 0) return 'none'
  return (
    <details>
      <summary>{changes.length === 1 ? '1 field' : `${changes.length} fields`}</summary>
      <table className={styles['change']}>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ field, before: old, after: fresh }) => (
            <tr key={field}>
              <th scope="row">{field}</th>
              <td>{old ?? '–'}</td>
              <td>{fresh ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
