import type { KindName } from '@quayside/contract/services/kinds.ts'
import { useQuery } from '@tanstack/react-query'
import { useChange } from '../api/change.ts'
import { messageOf } from '../api/client.ts'
import { versionOperations } from '../api/kinds-deployments.ts'
import { rollbackEffect } from '../api/reads-deployments.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import { Problem } from '../ui/Problem.tsx'
import { exactTime } from '../ui/When.tsx'

interface RollbackDialogProps {
  readonly environmentId: string
  readonly kind: KindName
  readonly serviceId: string
  readonly executionId: string
  readonly createdAt: string
  readonly onClose: () => void
}

/** Shows the effect of a rollback before it begins. */
export function RollbackDialog({ createdAt, onClose, ...of }: RollbackDialogProps) {
  const { environmentId, kind, serviceId, executionId } = of
  const { data: plan, error } = useQuery(rollbackEffect(of))
  const rollback = useChange({
    change: () => versionOperations[kind].rollback(serviceId, executionId, false),
    makesOld: ['environment', environmentId],
    onDone: onClose,
  })
  const service = plan?.services[0]
  const waiting = plan ? undefined : 'the effect is not known yet'
  return (
    <FormDialog
      title={`Roll back to the version of ${exactTime(createdAt)}`}
      isOpen
      onClose={onClose}
      action="Roll back"
      isBusy={rollback.isPending}
      error={rollback.error}
      refusal={error ? messageOf(error) : (service?.skipped ?? waiting)}
      onSubmit={() => rollback.mutate()}
      preview={() => rollback.preview()}
    >
      <Problem error={error} />
      {!plan && !error && <p role="status">Comparing with the running version …</p>}
      {plan && (
        <>
          <p>
            The version starts without a build, with its settings, variables and secrets of that time. The stored
            variables and secrets do not change, and the next deployment uses those.
          </p>
          <p role="status">{service?.skipped ?? service?.reasons.join(' ')}</p>
          <Names label="Settings that become those of that time" names={plan.changed_settings} />
          <Names label="Variables that differ from the running version" names={service?.changed_variables ?? []} />
        </>
      )}
    </FormDialog>
  )
}

const Names = ({ label, names }: { readonly label: string; readonly names: readonly string[] }) =>
  names.length > 0 && (
    <p>
      {label}: <code>{names.join(', ')}</code>
    </p>
  )
