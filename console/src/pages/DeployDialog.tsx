import { useMutation, useQuery } from '@tanstack/react-query'
import { api } from '../api/client.ts'
import { deploymentPlan } from '../api/reads.ts'
import { FormDialog } from '../ui/Dialog.tsx'
import { Problem } from '../ui/Problem.tsx'
import { Table } from '../ui/Table.tsx'

const columns = ['Service', 'Effect', 'Because']
const effects = {
  FIRST_START: 'starts for the first time',
  START: 'starts',
  REBUILD: 'is built and replaced',
  RESTART: 'restarts with the changes',
  KEEP: 'keeps running',
  SKIP: 'is left out',
} as const

interface DeployDialogProps {
  readonly environmentId: string
  readonly name: string
  readonly onClose: () => void
}

/** Shows the effect of a deployment on each service before it begins. */
export function DeployDialog({ environmentId, name, onClose }: DeployDialogProps) {
  const { data: plan, error } = useQuery(deploymentPlan(environmentId))
  const deploy = useMutation({ mutationFn: () => api.deployEnvironment({ environmentId }), onSuccess: onClose })
  return (
    <FormDialog
      title={`Deploy ${name}`}
      isOpen
      onClose={onClose}
      action="Deploy"
      isBusy={deploy.isPending}
      error={deploy.error}
      refusal={plan?.refused ?? undefined}
      onSubmit={() => deploy.mutate()}
    >
      <Problem error={error} />
      {plan?.refused && <p>{plan.refused}</p>}
      {plan ? (
        <Table label="Effects of the deployment" columns={columns}>
          {plan.services.map(({ service_id, name: service, effect, reasons, skipped, ...changes }) => (
            <tr key={service_id}>
              <td>{service}</td>
              <td>{effects[effect]}</td>
              <td>
                {skipped ?? reasons.join(' ')}
                <Names label="Settings" names={changes.changed_settings} />
                <Names label="Variables" names={changes.changed_variables} />
              </td>
            </tr>
          ))}
        </Table>
      ) : (
        <p role="status">Comparing with the running versions …</p>
      )}
    </FormDialog>
  )
}

const Names = ({ label, names }: { readonly label: string; readonly names: readonly string[] }) =>
  names.length > 0 && (
    <div>
      {label}: <code>{names.join(', ')}</code>
    </div>
  )
