import type { KindName } from '@quayside/contract/services/kinds.ts'
import { AppError } from '../lib/error.ts'

/** As much of a cluster as decides about what can run there. */
export interface RunningPlace {
  readonly name: string
  /** Null: no engine of this installation runs anything on it. */
  readonly engine: 'local' | null
}

const unable: Partial<Record<KindName, string>> = {
  helm: 'Helm charts need Kubernetes, for they are of the shape "chart"',
  terraform: 'Terraform stacks cannot be applied yet, for they are of the shape "stack"',
}

/** Whether there are clusters with an engine that cannot run services of this kind. */
export const isUnable = (kind: KindName): boolean => unable[kind] !== undefined

/** Why services of a kind cannot be deployed on a cluster; undefined where they can. */
export function refusalOfKind(kind: KindName, { name, engine }: RunningPlace): string | undefined {
  if (engine === null) {
    return `Cluster "${name}" is a record: no engine of this installation runs anything on it. Use the built-in cluster.`
  }
  const reason = unable[kind]
  return (
    reason &&
    `${reason}: cluster "${name}" is a Docker Engine, which runs applications, containers, databases and jobs.`
  )
}

/** The same of a service, thrown as 400. */
export function refuseKind(service: {
  readonly kind: KindName
  readonly cluster_name: string
  readonly cluster_engine: 'local' | null
}): void {
  const reason = refusalOf(service)
  if (reason) throw new AppError('invalid', reason)
}

export const refusalOf = (service: {
  readonly kind: KindName
  readonly cluster_name: string
  readonly cluster_engine: 'local' | null
}): string | undefined => refusalOfKind(service.kind, { name: service.cluster_name, engine: service.cluster_engine })
