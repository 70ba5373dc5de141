/** Where one port of one replica answers. */
export interface Endpoint {
  readonly replica: string
  readonly port: number
  readonly address: string
}

export type Observation =
  | { readonly state: 'absent' }
  | {
      /** `running`: every replica up · `starting`: some not up yet · `failing`: some exit again and again · `stopped`: none up. */
      readonly state: 'running' | 'starting' | 'failing' | 'stopped'
      readonly release: string
      readonly replicas: readonly Replica[]
      /** What is wrong, for people: `exited with code 1, 4 times`. */
      readonly reason?: string
    }

export interface Replica {
  readonly name: string
  readonly release: string
  /** Its program runs, and can be reached. */
  readonly running: boolean
  /** As its workload names it. */
  readonly image: string
  /** Of its program, the last time; absent: it never started. */
  readonly startedAt?: Date
  /** When its program ended, the last time; absent: it never did. Before `startedAt` where it was started again since. */
  readonly finishedAt?: Date
  readonly exits: number
  readonly exitCode?: number
  readonly outOfMemory: boolean
  /** Somebody changed its limits, or that it is brought back: starting its release again undoes that. */
  readonly isChanged?: true
  readonly endpoints: readonly Endpoint[]
}

/** Of one running replica: CPU in thousandths of a core over the last seconds, memory without what can go at any time. */
export interface ReplicaUsage {
  readonly replica: string
  readonly cpuMilli: number
  /** 0: none. */
  readonly cpuLimitMilli: number
  readonly memoryMiB: number
  readonly memoryLimitMiB: number
}
