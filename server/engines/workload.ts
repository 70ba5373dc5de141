import type { ScopedAnnotations } from '@quayside/contract/resources/tag-group.ts'
import type { ReadScaler } from '@quayside/contract/services/event-triggers.ts'
import { Secret } from '../lib/secret.ts'
import type { Volume } from './volume.ts'

/** An immutable version of a service, ready to run. */
export interface Release<W extends Workload = LongRunning> {
  readonly id: string
  readonly service: string
  readonly environment: string
  /** A readable name for people who look at the engine. It goes into labels, never into names. */
  readonly displayName: string
  readonly workload: W
}

export type Workload = LongRunning | Task
// Charts and stacks join this union together with the service kinds that need them.

/** The settings of a program that all kinds of workloads share. */
interface Program {
  /**
   * A reference to an image that the engine already has: a digest, the image's id, or a tag that is
   * never reused.
   */
  readonly image: string
  readonly entrypoint?: readonly string[]
  readonly arguments: readonly string[]
  readonly variables: Readonly<Record<string, string | Secret>>
  readonly files: readonly MountedFile[]
  /** Thousandths of a core. */
  readonly cpuMilli: number
  readonly memoryMiB: number
  /**
   * GiB that the program may write outside its volumes; absent: no limit. Engines whose file system
   * has no quotas ignore it.
   */
  readonly layerGiB?: number
  /** The names by which other services of the environment reach this one. */
  readonly aliases: readonly string[]
  /**
   * Labels set by users, for people who look at the engine. None of them may have a meaning to the
   * engine.
   */
  readonly labels?: Readonly<Record<string, string>>
  /** Annotations set by users, for an engine that has such objects. */
  readonly annotations?: ScopedAnnotations
  /** The program may write only to its volumes. */
  readonly hasReadOnlyRoot?: boolean
  /** Labels of the nodes on which it may run, for an engine with several. */
  readonly nodeLabels?: Readonly<Record<string, string>>
}

export interface LongRunning extends Program {
  readonly shape: 'long-running'
  readonly replicas: { readonly min: number; readonly max: number }
  /**
   * The average use, in per cent of a replica's limits, at which the number of replicas is right.
   * For an engine that scales by load. Absent if the number is fixed.
   */
  readonly targets?: { readonly cpuPercent: number; readonly memoryPercent?: number }
  /** The autoscaling policy by events, for an engine that scales by them. It replaces `targets`. */
  readonly events?: {
    readonly pollingSeconds: number
    readonly cooldownSeconds: number
    readonly scalers: readonly ReadScaler[]
  }
  readonly ports: readonly Port[]
  /**
   * Ports that are also published on the machine. Only one replica can publish a given port of the
   * machine.
   */
  readonly publishedPorts?: readonly PublishedPort[]
  readonly probes: Probes
  readonly storage: readonly Volume[]
  /** No two replicas of a release run on one node. They only prefer different nodes otherwise. */
  readonly needsOwnNodes?: boolean
  /** Replicas spread over zones, if possible or in any case. */
  readonly zones?: 'preferred' | 'required'
  /** The stop signal; absent: that of the image. */
  readonly stopSignal?: 'SIGINT' | 'SIGTERM'
  /** How long a replica may take to stop before it is killed. */
  readonly stopGraceSeconds: number
  /**
   * Runs inside each replica right after its program starts or restarts. If it fails, the start
   * fails.
   */
  readonly postStart?: readonly string[]
  /** Runs inside each replica before its program is stopped; it counts towards the grace time. */
  readonly preStop?: readonly string[]
  /**
   * How long `start` waits for health, over all replicas. If the caller restarts, it continues with
   * the time left.
   */
  readonly startDeadlineSeconds: number
}

/** A program that runs to completion. */
export interface Task extends Program {
  readonly shape: 'task'
  /** How long one run may take before it is ended. */
  readonly timeoutSeconds: number
  /** How long its program may take to stop before it is killed. */
  readonly stopGraceSeconds: number
  /**
   * Absolute path of a file whose content becomes part of the outcome. Its directory exists, and
   * every user may write to it.
   */
  readonly outputFile?: string
  /**
   * Files that the run begins with, readable by every user. Their directories exist, and every user
   * may write to them.
   */
  readonly inputFiles?: readonly InputFile[]
  /**
   * Files whose content becomes part of the outcome, however the run ends. Their directories exist,
   * and every user may write to them.
   */
  readonly outputFiles?: readonly OutputFile[]
  /** An exit code by which the program says that it left no output files. None is read then. */
  readonly filelessExitCode?: number
  /** The run starts at a fixed moment, so as much work as possible is done while it is prepared. */
  readonly isPunctual?: boolean
}

/** A file of a task by its absolute, normalised path. */
export interface InputFile {
  readonly path: string
  readonly content: Uint8Array
}

/** A file that a task may write. A longer one than `mostBytes` is not read. */
export interface OutputFile {
  readonly path: string
  readonly mostBytes: number
}

export interface MountedFile {
  /** Absolute, normalised path inside the container. */
  readonly path: string
  readonly content: string | Secret
}

export interface Port {
  readonly name: string
  readonly internalPort: number
  readonly protocol: 'HTTP' | 'GRPC' | 'TCP' | 'UDP'
}

/** A port of a replica on an address of the machine. */
export interface PublishedPort {
  readonly internalPort: number
  readonly protocol: 'TCP' | 'UDP'
  /** An IP address of the machine, or the wildcard address. */
  readonly hostAddress: string
  readonly hostPort: number
}

/**
 * If neither is set, a replica is ready when its first TCP port accepts a connection; without
 * ports, after it has run for three seconds.
 */
export interface Probes {
  readonly readiness?: Probe
  readonly liveness?: Probe
}

export interface Probe {
  readonly check:
    | { readonly type: 'tcp'; readonly port: number }
    | { readonly type: 'http'; readonly path: string; readonly scheme: 'HTTP' | 'HTTPS'; readonly port: number }
    | { readonly type: 'exec'; readonly command: readonly string[] }
    | { readonly type: 'grpc'; readonly port: number; readonly service: string }
  readonly initialDelaySeconds: number
  readonly periodSeconds: number
  readonly timeoutSeconds: number
  readonly successThreshold: number
  readonly failureThreshold: number
}

/** The values of a workload that must not appear in any line. */
export const secretsIn = ({ variables, files }: Pick<Program, 'variables' | 'files'>): Secret[] =>
  [...Object.values(variables), ...files.map(({ content }) => content)].filter((value) => value instanceof Secret)
