import type { ChartService } from './chart.ts'

/**
 * With this many exits a replica is failing, on every engine: while it waits for its restart, and
 * until it has run for a while. One number for both, or a service would seem to run between two
 * exits. Two are too few: a replica that dies shortly before its engine does has two when both are
 * back.
 */
export const manyExits = 3

/** The address of one port of one replica. Steps record it, so it is plain data. */
export type Endpoint = {
  readonly replica: string
  readonly port: number
  readonly address: string
  /** The public port of a chart that leads here. Without it, `port` identifies it. */
  readonly of?: ChartPortTarget
}

/** How a public port of a chart finds its pods. */
export type ChartPortTarget = {
  /** The name of the public port. */
  readonly name: string
  /** Its number in the settings of the service, which may be that of a Kubernetes Service. */
  readonly port: number
  /** The labels of its pods, in addition to those of the platform. */
  readonly pods: Readonly<Record<string, string>>
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
      /** The Kubernetes Services of a chart. */
      readonly services?: readonly ChartService[]
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
  /** The pod of a chart, to which its public ports may lead. */
  readonly pod?: ChartPod
}

export interface ChartPod {
  readonly labels: Readonly<Record<string, string>>
  /** The ports to which its containers give names. */
  readonly ports: Readonly<Record<string, number>>
  /** Undefined while it does not pass its readiness probe. */
  readonly address: string | undefined
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
