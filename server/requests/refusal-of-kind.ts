import { isTaskKind, type KindName } from '@quayside/contract/services/kinds.ts'
import type { CapabilitiesOf, EngineCapabilities, Shape } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'

/** The part of a cluster that decides what can run on it. */
export interface RunningPlace {
  readonly name: string
  /** The name of its engine; null if the cluster is only a record. */
  readonly engine: string | null
}

/** What refusals are computed from. */
export interface RefusalOptions {
  readonly capabilitiesOf: CapabilitiesOf
}

/** The shapes of kinds that are neither run for long nor to their end. */
const otherShapes: Partial<Record<KindName, Shape>> = { helm: 'chart', terraform: 'stack' }
const shapeOf = (kind: KindName): Shape => otherShapes[kind] ?? (isTaskKind(kind) ? 'task' : 'long-running')

const reasons: Readonly<Record<Shape, string>> = {
  'long-running': 'Applications, containers and databases cannot run here, for they are of the shape "long-running"',
  task: 'Jobs cannot run here, for they are of the shape "task"',
  chart: 'Helm charts need Kubernetes, for they are of the shape "chart"',
  stack: 'Terraform stacks cannot be applied yet, for they are of the shape "stack"',
}

/** Whether an engine with these capabilities runs services of this kind. */
export const canRun = ({ shapes }: EngineCapabilities, kind: KindName): boolean => shapes.has(shapeOf(kind))

/** Returns why services of a kind cannot be deployed on a cluster; undefined if they can. */
export function refusalOfKind(
  { capabilitiesOf }: RefusalOptions,
  kind: KindName,
  { name, engine }: RunningPlace,
): string | undefined {
  if (engine === null) {
    return `Cluster "${name}" is a record: no engine of this installation runs anything on it. Use the built-in cluster.`
  }
  const capabilities = capabilitiesOf({ engine })
  if (!capabilities) return `Cluster "${name}" needs the engine "${engine}", which this installation does not have.`
  if (canRun(capabilities, kind)) return undefined
  return `${reasons[shapeOf(kind)]}: cluster "${name}" is ${capabilities.description}.`
}

interface PlacedService {
  readonly kind: KindName
  readonly cluster_name: string
  readonly cluster_engine: string | null
}

/** Throws 400 if the service cannot be deployed on its cluster. */
export function refuseKind(options: RefusalOptions, service: PlacedService): void {
  const reason = refusalOf(options, service)
  if (reason) throw new AppError('invalid', reason)
}

/** Returns why a service cannot be deployed on its cluster; undefined if it can. */
export const refusalOf = (options: RefusalOptions, service: PlacedService): string | undefined =>
  refusalOfKind(options, service.kind, { name: service.cluster_name, engine: service.cluster_engine })
