import type { api } from './client.ts'

export type EnvironmentDeployment = Awaited<
  ReturnType<typeof api.listEnvironmentDeploymentHistoryV2>
>['results'][number]
type ServiceDeployment = EnvironmentDeployment['stages'][number]['services'][number]

/** The version of a service that an execution started. */
export interface ServiceVersion {
  readonly id: string
  readonly name: string
  /** Such as `application`. */
  readonly kind: string
  readonly executionId: string
}

/** One service in two deployments. A side is undefined if the service had no version then. */
export interface TwoVersionsOf extends Omit<ServiceVersion, 'executionId'> {
  readonly from: string | undefined
  readonly to: string | undefined
}

/** Pure: the services of a deployment, in the order of its stages. */
export const servicesIn = ({ stages }: EnvironmentDeployment): readonly ServiceDeployment[] =>
  stages.flatMap(({ services }) => services)

const startsVersion = ({ status_details: { action, status } }: ServiceDeployment): boolean =>
  (action === 'DEPLOY' || action === 'RESTART') && status === 'SUCCESS'

/**
 * Pure: the version of each service after a deployment. The history is newest first. A version
 * from before the history is not known.
 */
export function versionsAt(
  history: readonly EnvironmentDeployment[],
  executionId: string,
): ReadonlyMap<string, ServiceVersion> {
  const place = history.findIndex(({ identifier }) => identifier.execution_id === executionId)
  const found = new Map<string, ServiceVersion>()
  const settled = new Set<string>()
  for (const service of place === -1 ? [] : history.slice(place).flatMap(servicesIn)) {
    const { service_id: id, service_type, name, execution_id } = service.identifier
    const kind = service_type.toLowerCase()
    const { action, status } = service.status_details
    if (settled.has(id)) continue
    if (startsVersion(service)) found.set(id, { id, name, kind, executionId: execution_id })
    if (startsVersion(service) || (action === 'DELETE' && status === 'SUCCESS')) settled.add(id)
  }
  return found
}

/** Pure: each service of two deployments with its versions after them. */
export function pairsOf(history: readonly EnvironmentDeployment[], from: string, to: string): readonly TwoVersionsOf[] {
  const [before, after] = [versionsAt(history, from), versionsAt(history, to)]
  return [...new Map([...before, ...after]).values()].map(({ id, name, kind }) => ({
    id,
    name,
    kind,
    from: before.get(id)?.executionId,
    to: after.get(id)?.executionId,
  }))
}

/** Pure: the deployment before another one. Undefined if the history begins with it. */
export function deploymentBefore(
  history: readonly EnvironmentDeployment[],
  executionId: string,
): EnvironmentDeployment | undefined {
  const place = history.findIndex(({ identifier }) => identifier.execution_id === executionId)
  return place === -1 ? undefined : history[place + 1]
}
