import type { Abilities } from '@quayside/contract/services/capabilities.ts'

export type { Shape } from '@quayside/contract/services/shapes.ts'

/** What an engine can do. Its clusters refuse everything else before anything starts. */
export interface EngineCapabilities extends Abilities {
  /** The engine in a message about its cluster: `cluster "x" is <description>`. */
  readonly description: string
}
