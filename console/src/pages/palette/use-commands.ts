import type { KindName } from '@quayside/contract/services/kinds.ts'
import { type Action, refusal } from '@quayside/contract/states.ts'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { api } from '../../api/client.ts'
import { isKind, kinds } from '../../api/kinds.ts'
import { showNextChange } from '../../api/next-change.ts'
import { stages } from '../../api/reads.ts'
import { scopeOf } from '../../api/reads-variables.ts'
import { operationOf } from '../../api/rights.ts'
import { findStatus, isEmpty } from '../../api/stage-rows.ts'
import { useMay } from '../use-may.ts'
import type { Command } from './command.ts'

const organization = '/organizations/$organizationId'
const environment = `${organization}/environments/$environmentId` as const
const service = `${environment}/$kind/$serviceId` as const

type Navigate = ReturnType<typeof useNavigate>
type State = Parameters<typeof refusal>[1]

/** Everything that can be done on the present page, and the pages that are near it. */
export function useCommands(organizationId: string): readonly Command[] {
  const navigate = useNavigate()
  const { environmentId = '', kind, serviceId } = useParams({ strict: false })
  // The page has read it. A second read would only say the same.
  const { data: statuses } = useQuery({ ...stages(environmentId), enabled: false })
  const may = useMay()
  const everywhere = settingsCommands(navigate, organizationId)
  if (environmentId === '') return everywhere
  const at = { organizationId, environmentId }
  const refusals = {
    DEPLOY: may('deployEnvironment') ?? (statuses && isEmpty(statuses) ? 'it has no service yet' : undefined),
    COPY: may('cloneEnvironment'),
    DELETE: may('deleteEnvironment'),
    STOP: may('stopEnvironment') ?? refusal('STOP', statuses?.environment.state ?? 'READY'),
  }
  const inEnvironment = [...environmentCommands(navigate, at, refusals, serviceId !== undefined), ...everywhere]
  // The address may name a kind that does not exist.
  if (!kind || !isKind(kind) || !serviceId) return inEnvironment
  const status = statuses && findStatus(statuses, kind, serviceId)
  const place = { ...at, kind, serviceId }
  return [
    ...serviceActions(place, (status?.state ?? 'READY') as State, may(operationOf('deploy', kind))),
    ...servicePages(navigate, place),
    ...inEnvironment,
  ]
}

const settings = [
  { to: `${organization}/settings/members`, label: 'Members' },
  { to: `${organization}/settings/clusters`, label: 'Clusters' },
  { to: `${organization}/settings/roles`, label: 'Roles' },
  { to: `${organization}/settings/api-tokens`, label: 'API tokens' },
  { to: `${organization}/settings/git-tokens`, label: 'Git tokens' },
  { to: `${organization}/settings/registries`, label: 'Registries' },
  { to: `${organization}/settings/helm-repositories`, label: 'Helm repositories' },
  { to: `${organization}/settings/webhooks`, label: 'Webhooks' },
  { to: `${organization}/settings/audit`, label: 'Audit log' },
] as const

function settingsCommands(navigate: Navigate, organizationId: string): readonly Command[] {
  const params = { organizationId }
  return [
    { id: 'as-curl', group: 'This page', label: 'Show the next change as curl', keys: 'c', run: showNextChange },
    {
      id: 'projects',
      group: 'Go to',
      label: 'Projects',
      keys: 'g p',
      run: () => navigate({ to: organization, params }),
    },
    ...settings.map(
      ({ to, label }, index): Command => ({
        id: label,
        group: 'Go to',
        label,
        hint: 'Settings',
        ...(index === 0 && { keys: 'g s' }),
        run: () => navigate({ to, params }),
      }),
    ),
  ]
}

interface EnvironmentPlace {
  readonly organizationId: string
  readonly environmentId: string
}

/** Actions of the environment are named as such while the page is about a service. */
function environmentCommands(
  navigate: Navigate,
  params: EnvironmentPlace,
  refusals: Readonly<Record<'DEPLOY' | 'STOP' | 'COPY' | 'DELETE', string | undefined>>,
  isBeside: boolean,
): readonly Command[] {
  const open = (act: 'deploy' | 'copy' | 'delete') => () => navigate({ to: environment, params, search: { act } })
  const of = isBeside ? ' of the environment' : ''
  const shared = { group: isBeside ? 'Go to' : 'This page' } as const
  const { environmentId } = params
  return [
    {
      ...shared,
      id: 'deploy-environment',
      label: 'Deploy the environment …',
      keys: 'd',
      refusal: refusals.DEPLOY,
      run: open('deploy'),
    },
    {
      ...shared,
      id: 'stop-environment',
      label: 'Stop the environment',
      isChange: true,
      refusal: refusals.STOP,
      run: () => api.stopEnvironment({ environmentId }),
    },
    { ...shared, id: 'copy-environment', label: 'Copy the environment …', refusal: refusals.COPY, run: open('copy') },
    {
      ...shared,
      id: 'delete-environment',
      label: 'Delete the environment …',
      refusal: refusals.DELETE,
      run: open('delete'),
    },
    {
      ...shared,
      id: 'new-service',
      label: 'New service',
      keys: 'g n',
      run: () => navigate({ to: `${environment}/new`, params }),
    },
    {
      ...shared,
      id: 'environment-variables',
      label: `Variables${of}`,
      ...(!isBeside && { keys: 'g v' }),
      run: () => navigate({ to: `${environment}/variables`, params }),
    },
    {
      ...shared,
      id: 'environment',
      label: 'The environment',
      keys: 'g e',
      run: () => navigate({ to: environment, params }),
    },
    {
      ...shared,
      id: 'stages',
      label: 'Stages of the environment',
      run: () => navigate({ to: `${environment}/stages`, params }),
    },
    {
      ...shared,
      id: 'hours',
      label: 'Hours of the environment',
      keys: 'g h',
      run: () => navigate({ to: `${environment}/hours`, params }),
    },
    {
      ...shared,
      id: 'environment-deployments',
      label: 'Deployments of the environment',
      keys: 'g d',
      run: () => navigate({ to: `${environment}/deployments`, params }),
    },
    {
      ...shared,
      id: 'map',
      label: 'Map of the environment',
      keys: 'g m',
      run: () => navigate({ to: environment, params, search: { view: 'map' } }),
    },
  ]
}

interface ServicePlace extends EnvironmentPlace {
  readonly kind: KindName
  readonly serviceId: string
}

function serviceActions(
  { kind, serviceId }: ServicePlace,
  state: State,
  forbidden: string | undefined,
): readonly Command[] {
  const { deploy, stop, restart } = kinds[kind]
  const command = (label: string, action: Action, act: ((id: string) => Promise<unknown>) | undefined): Command => ({
    id: `${label} service`,
    group: 'This page',
    label: `${label} the service`,
    isChange: true,
    refusal: act ? (forbidden ?? refusal(action, state)) : `a ${kinds[kind].noun.toLowerCase()} has no such action`,
    run: () => act?.(serviceId),
  })
  return [command('Deploy', 'DEPLOY', deploy), command('Stop', 'STOP', stop), command('Restart', 'RESTART', restart)]
}

function servicePages(navigate: Navigate, params: ServicePlace): readonly Command[] {
  return [
    {
      id: 'service',
      group: 'This page',
      label: 'Overview of the service',
      keys: 'g o',
      run: () => navigate({ to: service, params }),
    },
    {
      id: 'service-variables',
      group: 'This page',
      label: 'Variables of the service',
      keys: 'g v',
      refusal: scopeOf[params.kind] ? undefined : 'databases have no variables',
      run: () => navigate({ to: `${service}/variables`, params }),
    },
    {
      id: 'service-settings',
      group: 'This page',
      label: 'Settings of the service',
      keys: 'g t',
      run: () => navigate({ to: `${service}/settings`, params }),
    },
  ]
}
