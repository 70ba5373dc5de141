import type { EngineCapabilities, EngineCapacity } from './engine-capabilities.ts'
import type { ChartRunner } from './roles/chart-runner.ts'
import type { Departure } from './roles/departure.ts'
import type { DiskMeter } from './roles/disk-meter.ts'
import type { EnvironmentList } from './roles/environment-list.ts'
import type { ImageStore } from './roles/image-store.ts'
import type { LogSource } from './roles/log-source.ts'
import type { Observes } from './roles/observes.ts'
import type { Renewal } from './roles/renewal.ts'
import type { Runner } from './roles/runner.ts'
import type { TaskRunner } from './roles/task-runner.ts'
import type { Terminals } from './roles/terminals.ts'
import type { Upkeep } from './roles/upkeep.ts'
import type { VolumeStore } from './roles/volume-store.ts'

export type * from './chart.ts'
export type * from './chart-change.ts'
export * from './disk.ts'
export type * from './engine-capabilities.ts'
export * from './engine-error.ts'
export * from './image.ts'
export * from './log-line.ts'
export type * from './machine-report.ts'
export type * from './network-guards.ts'
export * from './observation.ts'
export type * from './roles/chart-runner.ts'
export type * from './roles/departure.ts'
export type * from './roles/disk-meter.ts'
export type * from './roles/environment-list.ts'
export type * from './roles/image-store.ts'
export type * from './roles/log-source.ts'
export type * from './roles/observes.ts'
export type * from './roles/renewal.ts'
export type * from './roles/runner.ts'
export type * from './roles/task-runner.ts'
export type * from './roles/terminals.ts'
export type * from './roles/upkeep.ts'
export type * from './roles/volume-store.ts'
export * from './task.ts'
export * from './terminal.ts'
export * from './volume.ts'
export * from './workload.ts'

/** Something that an engine lacks. */
export interface Finding {
  /** Names the missing thing, its effect, and the command that mends it. */
  readonly message: string
  /** Nothing can run without it. */
  readonly isBlocking: boolean
}

/** What an engine says of the machines on which it runs workloads. */
export type EngineReport =
  | {
      readonly state: 'REACHABLE'
      readonly version: string
      /** The names of the machines. */
      readonly nodes: readonly string[]
      /** All machines together. */
      readonly cpuMilli: number
      readonly memoryMiB: number
    }
  /** It does not answer, or it does not let the platform work. */
  | { readonly state: 'UNREACHABLE' | 'REFUSED'; readonly reason: string }

/** What every engine has in addition to its roles. */
export interface Reachable {
  readonly capabilities: EngineCapabilities
  /** Changes if the engine gains or loses machines. */
  readonly capacity: EngineCapacity
  /** Rejects with the reason if the engine cannot be reached. */
  ping(signal: AbortSignal): Promise<void>
  /** Undefined for an engine of this machine, which `npm run doctor` checks. */
  report(signal: AbortSignal): Promise<EngineReport | undefined>
  /** Lists what the engine needs and does not have. Throws EngineError. */
  listFindings(signal: AbortSignal): Promise<readonly Finding[]>
}

/** An engine may run Helm charts. */
export interface RunsCharts {
  /** Undefined: it lacks the shape `chart`. */
  readonly charts?: ChartRunner | undefined
}

/**
 * Runs the workloads of clusters: plain data in, plain data out, without database or HTTP.
 * Everything that it creates carries the owner's labels, so it can be found again after a crash. It
 * never touches anything without those labels. Every call may be repeated. Callers name the roles
 * that they use.
 */
export type Engine = Reachable &
  Runner &
  Observes &
  TaskRunner &
  ImageStore &
  VolumeStore &
  DiskMeter &
  LogSource &
  Terminals &
  Renewal &
  Departure &
  EnvironmentList &
  Upkeep &
  RunsCharts
