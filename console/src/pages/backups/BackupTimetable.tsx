import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { aboutBackups, type BackupPlace, backupPolicy, backupsOf } from '../../api/backups.ts'
import type { FieldSpec } from '../../forms/fields.ts'
import { Button } from '../../ui/Button.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { TimetableForm } from '../TimetableForm.tsx'
import { TimetableWords } from '../TimetableWords.tsx'
import { useMay } from '../use-may.ts'

const keepField: FieldSpec = {
  path: 'keep',
  label: 'Backups to keep',
  type: 'number',
  hint: 'Older ones are deleted, also those that people made. The newest proven one stays.',
}

/** When a service is backed up by itself, and how many backups are kept. */
export function BackupTimetable({ place }: { readonly place: BackupPlace }) {
  const { data, error } = useQuery(backupPolicy(place))
  const [isEditing, setEditing] = useState(false)
  const may = useMay()
  if (!data) return error ? <Problem error={error} /> : <p>Reading …</p>
  return (
    <>
      <TimetableWords policy={data} none="It is not backed up by itself." />
      <p>{data.keep === 1 ? 'One backup is kept.' : `${data.keep} backups are kept.`}</p>
      <Button refusal={may('editApplicationBackupPolicy')} onClick={() => setEditing(true)}>
        Change the timetable of backups
      </Button>
      {isEditing && (
        <TimetableForm
          title="Timetable of backups"
          policy={data}
          more={{ fields: [keepField], values: { keep: data.keep } }}
          save={(body) => backupsOf[place.kind].editPolicy(place.serviceId, body)}
          changes={aboutBackups(place)}
          onClose={() => setEditing(false)}
        />
      )}
    </>
  )
}
