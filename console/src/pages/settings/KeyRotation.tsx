import { useQuery } from '@tanstack/react-query'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { inOrganization } from '../../api/reads-organization.ts'
import { keyRotation } from '../../api/reads-organization-record.ts'
import { Button } from '../../ui/Button.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { State } from '../../ui/State.tsx'
import { When } from '../../ui/When.tsx'
import { useMay } from '../use-may.ts'
import styles from './Settings.module.css'

/** The key that seals the secrets of an organization, and its change. */
export function KeyRotation({ organizationId }: { readonly organizationId: string }) {
  const may = useMay()
  const forbidden = may('getOrganizationKeyRotation')
  const { data, error } = useQuery({ ...keyRotation(organizationId), enabled: forbidden === undefined })
  const rotate = useChange({
    change: () => api.rotateOrganizationKeys({ organizationId }),
    makesOld: inOrganization(organizationId, 'key-rotation'),
  })
  const isRunning = data?.state === 'RUNNING'
  return (
    <>
      <p className={styles['quiet']}>Secrets are sealed with a key of the organization. A new key seals them again.</p>
      <Problem error={error ?? rotate.error} />
      {data?.state === 'NEVER_ROTATED' && <p>The first key is in use.</p>}
      {data?.started_at && data.state !== 'NEVER_ROTATED' && (
        <p>
          Last change: <State state={data.state} /> <When at={data.started_at} />
          {data.old_key_rows > 0 && `, ${data.old_key_rows} secrets still have a previous key`}
          {data.reason && `: ${data.reason}`}
        </p>
      )}
      <Button
        refusal={may('rotateOrganizationKeys') ?? (isRunning ? 'the key is being changed' : undefined)}
        isBusy={rotate.isPending}
        onClick={() => rotate.mutate()}
      >
        Change the key
      </Button>
    </>
  )
}
