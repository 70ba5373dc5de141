import { refusal, type State } from '@quayside/contract/states.ts'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useChange } from '../../api/change.ts'
import { api } from '../../api/client.ts'
import type { FrameSearch } from '../../api/environment-search.ts'
import { showNextChange } from '../../api/next-change.ts'
import { restartableIn } from '../../api/restartable.ts'
import type { StageRow } from '../../api/stage-rows.ts'
import { Button, buttonClass } from '../../ui/Button.tsx'
import { deferred } from '../../ui/deferred.tsx'
import { Menu } from '../../ui/Menu.tsx'
import { Problem } from '../../ui/Problem.tsx'
import { DeployDialog } from '../DeployDialog.tsx'
import { useMay } from '../use-may.ts'
import type { EnvironmentParams } from './EnvironmentTabs.tsx'

// They are rare, and their forms are large.
const AsTerraform = deferred(() => import('../terraform/AsTerraform.tsx').then((file) => file.AsTerraform))
const CloneDialog = deferred(() => import('./CloneDialog.tsx').then((file) => file.CloneDialog))
const SeveralServices = deferred(() => import('./SeveralServices.tsx').then((file) => file.SeveralServices))
const DeleteEnvironment = deferred(() => import('./DeleteEnvironment.tsx').then((file) => file.DeleteEnvironment))

interface EnvironmentActionsProps {
  readonly params: EnvironmentParams
  readonly name: string
  readonly state: State
  readonly rows: readonly StageRow[]
}

/** The actions on an environment. The rare ones are in a menu. */
export function EnvironmentActions({ params, name, state, rows }: EnvironmentActionsProps) {
  const { environmentId } = params
  const [dialog, open] = useDialog()
  const [isExport, setExport] = useState(false)
  const close = () => open(undefined)
  const may = useMay()
  const empty = rows.length === 0 ? 'there is no service in it yet' : undefined
  const restartable = restartableIn(rows)
  const act = useChange({ change: (work: () => Promise<unknown>) => work() })
  const items = [
    {
      label: 'Restart',
      refusal: may('rebootServices') ?? empty ?? restartable.refusal,
      onSelect: () => act.mutate(() => api.rebootServices({ environmentId, body: restartable.body })),
    },
    {
      label: 'Deploy the same versions',
      refusal: may('redeployEnvironment') ?? empty,
      onSelect: () => act.mutate(() => api.redeployEnvironment({ environmentId })),
    },
    {
      label: 'Several services …',
      refusal: may('stopSelectedServices') ?? empty,
      onSelect: () => void open('several'),
    },
    { label: 'As Terraform …', onSelect: () => setExport(true) },
    { label: 'Next change as curl …', onSelect: showNextChange },
    { label: 'Copy …', refusal: may('cloneEnvironment'), onSelect: () => void open('copy') },
    {
      label: 'Delete …',
      look: 'danger' as const,
      refusal: may('deleteEnvironment'),
      onSelect: () => void open('delete'),
    },
  ]
  return (
    <>
      <Problem error={act.error} />
      <Menu label="More" items={items} />
      <Link className={buttonClass} to="/organizations/$organizationId/environments/$environmentId/new" params={params}>
        New service
      </Link>
      <Button
        onClick={() => act.mutate(() => api.stopEnvironment({ environmentId }))}
        isBusy={act.isPending}
        refusal={may('stopEnvironment') ?? empty ?? refusal('STOP', state)}
      >
        Stop
      </Button>
      <Button look="main" onClick={() => void open('deploy')} refusal={may('deployEnvironment') ?? empty}>
        Review and deploy
      </Button>
      {dialog === 'deploy' && <DeployDialog {...{ environmentId, name }} onClose={close} />}
      {isExport && <AsTerraform of={{ environmentId }} name={name} onClose={() => setExport(false)} />}
      {dialog === 'copy' && <CloneDialog {...params} name={name} onClose={close} />}
      {dialog === 'several' && <SeveralServices {...{ environmentId, name, rows }} onClose={close} />}
      {dialog === 'delete' && <DeleteEnvironment {...params} onClose={close} />}
    </>
  )
}

/** The dialog that the address names, and a function that opens another one. */
function useDialog() {
  const { act } = useSearch({ strict: false })
  const navigate = useNavigate()
  const open = (next: FrameSearch['act']): Promise<void> =>
    navigate({
      to: '.',
      search: ({ act: _, ...rest }) => ({ ...rest, ...(next && { act: next }) }),
      replace: next === undefined,
      resetScroll: false,
    })
  return [act, open] as const
}
