import { type KindName, serviceKinds, shapeOf } from '@quayside/contract/services/kinds.ts'
import { shapes } from '@quayside/contract/services/shapes.ts'
import type { CapabilitiesOf, EngineCapabilities } from '../engines/index.ts'
import { AppError } from '../lib/error.ts'
import { autoscalingRefusal } from '../services/index.ts'

/** The part of a cluster that decides what can run on it. */
export interface RunningPlace {
  readonly name: string
  /** The name of its engine; null if the cluster is only a record. */
  readonly engine: string | null
}

/** What refusals depend on. */
export interface RefusalOptions {
  readonly capabilitiesOf: CapabilitiesOf
}

/** Whether an engine with these capabilities runs services of this kind. */
const canRun = (engine: EngineCapabilities, kind: KindName): boolean => engine.shapes.has(shapeOf(kind))

/** Returns why services of a kind cannot be deployed on a cluster; undefined if they can. */
export function refusalOfKind(
  { capabilitiesOf }: RefusalOptions,
  kind: KindName,
  { name, engine }: RunningPlace,
): string | undefined {
  if (engine === null) {
    return (
      `Cluster "${name}" is a record: no engine of this installation runs anything on it. Use the built-in ` +
      'cluster, or PUT a kubeconfig and deploy the cluster.'
    )
  }
  const capabilities = capabilitiesOf({ engine })
  if (!capabilities) return `Cluster "${name}" needs the engine "${engine}", which this installation does not have.`
  if (serviceKinds[kind].isBuilt && capabilities.cannotBuild !== undefined) {
    return `Cluster "${name}" runs no applications: ${capabilities.cannotBuild}`
  }
  if (canRun(capabilities, kind)) return undefined
  return `${shapes[shapeOf(kind)].refusal}: cluster "${name}" is ${capabilities.description}.`
}

interface PlacedService {
  readonly kind: KindName
  readonly cluster_name: string
  readonly cluster_engine: string | null
  readonly scales_by_events: boolean
}

/** Throws 400 if the service cannot be deployed on its cluster. */
export function refuseKind(options: RefusalOptions, service: PlacedService): void {
  const reason = refusalOf(options, service)
  if (reason) throw new AppError('invalid', reason)
}

/** Returns why a service cannot be deployed on its cluster; undefined if it can. */
export function refusalOf(options: RefusalOptions, service: PlacedService): string | undefined {
  const { kind, cluster_name: name, cluster_engine: engine } = service
  const ofKind = refusalOfKind(options, kind, { name, engine })
  if (ofKind || !service.scales_by_events) return ofKind
  const { events = 'cool-down' } = options.capabilitiesOf({ engine }) ?? {}
  return autoscalingRefusal({ name, events })
}

/** Whether an engine may refuse a service of this kind, so that its row must be read. */
export const mayRefuse = (engine: EngineCapabilities, kind: KindName): boolean =>
  !canRun(engine, kind) || typeof engine.events === 'object'
