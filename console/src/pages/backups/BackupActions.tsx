import { aboutBackups, type Backup, type BackupPlace, backupsOf } from '../../api/backups.ts'
import { useChange } from '../../api/change.ts'
import { Button } from '../../ui/Button.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { RemoveButton } from '../settings/RemoveButton.tsx'
import { useMay } from '../use-may.ts'
import styles from './Backups.module.css'

interface BackupActionsProps {
  readonly place: BackupPlace
  /** The name of the service. */
  readonly name: string
  readonly backup: Backup
  /** Why the backup cannot be used now. */
  readonly refusal: string | undefined
}

/** Proves, restores and deletes a backup. */
export function BackupActions({ place, name, backup, refusal }: BackupActionsProps) {
  const { prove, restore, remove } = backupsOf[place.kind]
  const makesOld = aboutBackups(place)
  const proving = useChange({ change: () => prove(place.serviceId, backup.id), makesOld })
  const may = useMay()
  const isFailed = backup.status.state === 'FAILED'
  return (
    <div className={styles['row']}>
      <Button
        onClick={() => proving.mutate()}
        isBusy={proving.isPending}
        refusal={may('proveApplicationBackup') ?? refusal}
        label={`Prove the backup “${backup.name}”`}
      >
        Prove
      </Button>
      <RemoveButton
        action="Restore"
        what={`${name} from “${backup.name}”`}
        refusal={may('restoreApplicationBackup') ?? refusal}
        remove={() => restore(place.serviceId, backup.id)}
        makesOld={['environment', place.environmentId]}
      >
        <p>
          The service stops, and everything that it wrote since then is replaced. Its present content is backed up
          first. Then it is deployed again.
        </p>
      </RemoveButton>
      <RemoveButton
        action="Delete"
        what={`the backup “${backup.name}”`}
        refusal={may('removeApplicationBackup') ?? (isFailed ? undefined : refusal)}
        remove={() => remove(place.serviceId, backup.id)}
        makesOld={makesOld}
      >
        <p>Its files are deleted. This cannot be undone.</p>
      </RemoveButton>
      <Problem error={proving.error} />
    </div>
  )
}
