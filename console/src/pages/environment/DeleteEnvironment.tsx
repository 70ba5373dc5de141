import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import { environment, services } from '../../api/reads.ts'
import { environmentLosses } from '../../api/reads-losses.ts'
import { ConfirmDialog } from '../../ui/ConfirmDialog.tsx'

interface DeleteEnvironmentProps {
  readonly organizationId: string
  readonly environmentId: string
  readonly onClose: () => void
}

/** Deletes an environment once its name is typed, and leads to the organization. */
export function DeleteEnvironment({ organizationId, environmentId, onClose }: DeleteEnvironmentProps) {
  const navigate = useNavigate()
  const { data: about } = useSuspenseQuery(environment(environmentId))
  const { data: list } = useSuspenseQuery(services(environmentId))
  const { data: losses, error } = useQuery(environmentLosses(environmentId, list))
  const remove = useChange({
    change: async () => {
      await api.deleteEnvironment({ environmentId })
      await navigate({ to: '/organizations/$organizationId', params: { organizationId } })
    },
    makesOld: ['organization', organizationId, 'projects'],
  })
  if (!losses && !error) return null
  return (
    <ConfirmDialog
      noun="environment"
      name={about.name}
      losses={list.length === 0 ? ['the environment, which has no service', ...(losses ?? [])] : (losses ?? [])}
      isBusy={remove.isPending}
      error={remove.error ?? error}
      onConfirm={() => remove.mutate()}
      preview={() => remove.preview()}
      onClose={onClose}
    />
  )
}
