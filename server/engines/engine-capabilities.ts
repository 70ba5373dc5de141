import type { Abilities } from '@quayside/contract/services/capabilities.ts'
import type { EventUse } from '@quayside/contract/services/event-triggers.ts'

export type { Shape } from '@quayside/contract/services/shapes.ts'

/** The room of an engine for workloads. */
export interface EngineCapacity {
  /** Thousandths of a core. */
  readonly cpuMilli: number
  readonly memoryMiB: number
  readonly architecture: 'AMD64' | 'ARM64'
}

/** What an engine can do. Its clusters reject everything else before anything starts. */
export interface EngineCapabilities extends Abilities {
  /** Describes the engine in a message about its cluster: `cluster "x" is <description>`. */
  readonly description: string
  /**
   * The source of the engine's images: `shared`, the builder and the engine have the same images;
   * `registry`, the builder publishes an image by its digest before the engine runs it.
   */
  readonly images: 'shared' | 'registry'
  /** Why no image is built for it from source code. Undefined: images are built. */
  readonly cannotBuild?: string
  /** Whether a public database gets a port of the engine's machine. */
  readonly publishesPorts: boolean
  /**
   * Whether it adds and removes replicas by load, between the least and the most of a workload. The
   * platform does it otherwise.
   */
  readonly scalesByLoad: boolean
  /** How autoscaling policies act on it. Changes if the cluster gains or loses what they need. */
  readonly events: EventUse
  /** Whether the engine reports the use of its disk. The platform then keeps it within a budget. */
  readonly measuresDisk: boolean
}
