/**
 * With this many exits a replica is failing, on every engine: while it waits for its restart, and
 * until it has run for a while. One number for both, or a service would seem to run between two
 * exits. Two are too few: a replica that dies shortly before its engine does has two when both are
 * back.
 */
export const manyExits = 3

/** The address of one port of one replica. */
export interface Endpoint {
  readonly replica: string
  readonly port: number
  readonly address: string
}

export type Observation =
  | { readonly state: 'absent' }
  | {
      /**
       * `running`: every replica up · `starting`: some not up yet · `failing`: some exit again and
       * again · `stopped`: none up.
       */
      readonly state: 'running' | 'starting' | 'failing' | 'stopped'
      readonly release: string
      readonly replicas: readonly Replica[]
      /** The problem, for people: `exited with code 1, 4 times`. */
      readonly reason?: string
      /** The engine keeps its replicas away for a moment, and brings them back by itself. */
      readonly isHeld?: true
    }

export interface Replica {
  readonly name: string
  readonly release: string
  /** Its program is running and can be reached. */
  readonly running: boolean
  /** The image, as its workload names it. */
  readonly image: string
  /** When its program last started; absent if it never did. */
  readonly startedAt?: Date
  /**
   * When its program last ended; absent if it never did. Earlier than `startedAt` if it was
   * restarted since.
   */
  readonly finishedAt?: Date
  readonly exits: number
  readonly exitCode?: number
  readonly outOfMemory: boolean
  /**
   * Somebody changed it, or an object of its release. Starting its release again restores them.
   */
  readonly isChanged?: true
  readonly endpoints: readonly Endpoint[]
}

/**
 * Usage of one running replica: CPU in thousandths of a core over the last seconds, memory without
 * reclaimable caches.
 */
export interface ReplicaUsage {
  readonly replica: string
  readonly cpuMilli: number
  /** 0: no limit. */
  readonly cpuLimitMilli: number
  readonly memoryMiB: number
  readonly memoryLimitMiB: number
}
