import type { Abilities } from '@quayside/contract/services/capabilities.ts'

export type { Shape } from '@quayside/contract/services/shapes.ts'

/** What an engine can do. Its clusters reject everything else before anything starts. */
export interface EngineCapabilities extends Abilities {
  /** Describes the engine in a message about its cluster: `cluster "x" is <description>`. */
  readonly description: string
  /**
   * The source of the engine's images: `shared`, the builder and the engine have the same images;
   * `registry`, the builder publishes an image by its digest before the engine runs it.
   */
  readonly images: 'shared' | 'registry'
}
