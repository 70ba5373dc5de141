import { useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { type BackupPlace, backups, hasBackups } from '../../api/backups.ts'
import { Button } from '../../ui/Button.tsx'
import { Section } from '../../ui/Page.tsx'
import { When } from '../../ui/When.tsx'
import { Missing } from '../Failed.tsx'
import { ServiceFrame } from '../ServiceFrame.tsx'
import { useMay } from '../use-may.ts'
import { BackupForm } from './BackupForm.tsx'
import { BackupList } from './BackupList.tsx'
import { BackupTimetable } from './BackupTimetable.tsx'

/** The backups of a service with volumes, their proofs and their timetable. */
export function BackupsPage() {
  const params = useParams({
    from: '/organizations/$organizationId/environments/$environmentId/$kind/$serviceId/backups',
  })
  const { environmentId, kind, serviceId } = params
  if (!hasBackups(kind)) return <Missing />
  return (
    <ServiceFrame params={params}>
      {({ name }) => <Backups name={name} place={{ environmentId, kind, serviceId }} />}
    </ServiceFrame>
  )
}

interface BackupsProps {
  readonly name: string
  readonly place: BackupPlace
}

function Backups({ name, place }: BackupsProps) {
  const { data } = useSuspenseQuery(backups(place))
  const [isMaking, setMaking] = useState(false)
  const may = useMay()
  const isBeingMade = data.all.some(({ status }) => status.state === 'QUEUED' || status.state === 'RUNNING')
  const button = (
    <Button
      onClick={() => setMaking(true)}
      refusal={may('addBackupApplication') ?? (isBeingMade ? 'it is being backed up already' : undefined)}
    >
      Back up now
    </Button>
  )
  return (
    <>
      {isMaking && <BackupForm place={place} onClose={() => setMaking(false)} />}
      <Section title="Timetable">
        <BackupTimetable place={place} />
      </Section>
      <Section title="Backups" actions={button}>
        <p>
          {data.provenAt ? (
            <>
              A restore was last proven to work <When at={data.provenAt} />.
            </>
          ) : (
            'No restore was proven to work yet. Each backup is proven after it is made.'
          )}
        </p>
        <BackupList {...{ place, name, list: data.all }} />
      </Section>
    </>
  )
}
