import type { Capability } from '@quayside/contract/services/capabilities.ts'

/** What a kind of services becomes for an engine. Charts and stacks are not workloads yet. */
export type Shape = 'long-running' | 'task' | 'chart' | 'stack'

/** What an engine can do. Its clusters refuse everything else before anything starts. */
export interface EngineCapabilities {
  /** The engine in a message about its cluster: `cluster "x" is <description>`. */
  readonly description: string
  /** The shapes that the engine runs. */
  readonly shapes: ReadonlySet<Shape>
  /** The capabilities that advanced settings may need. Settings that need others are refused. */
  readonly settings: ReadonlySet<Capability>
}
