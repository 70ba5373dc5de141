import type { TaskBehaviour } from './fake-tasks.ts'

/** How every release of an image behaves. Absent: it is healthy immediately. */
export interface Behaviour {
  readonly outcome?: 'healthy' | 'crashes' | 'out-of-memory' | 'never-ready' | 'image-missing'
  /** A slow start. */
  readonly healthyAfterMs?: number
  readonly exitCode?: number
  /** What it prints when it starts. */
  readonly lines?: readonly string[]
  /** How it behaves as a task. */
  readonly task?: TaskBehaviour
}

/** How often the engine really did something, rather than finding it already done. */
export interface Effects {
  created: number
  removed: number
  volumesMade: number
  volumesRemoved: number
  networksMade: number
  networksRemoved: number
}

export const noEffects = (): Effects => ({
  created: 0,
  removed: 0,
  volumesMade: 0,
  volumesRemoved: 0,
  networksMade: 0,
  networksRemoved: 0,
})
