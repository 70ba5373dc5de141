import { Secret } from '../lib/secret.ts'
import type { Volume } from './volume.ts'

/** An immutable version of a service, ready to run. */
export interface Release<W extends Workload = LongRunning> {
  readonly id: string
  readonly service: string
  readonly environment: string
  /** For people who look at the engine: becomes part of labels, never of names. */
  readonly displayName: string
  readonly workload: W
}

export type Workload = LongRunning | Task
// Charts and stacks join this union with the kinds that need them.

/** What every shape of workload says of its program. */
interface Program {
  /** A reference that the engine has already: by digest, by the image's id, or by a tag that only one image ever has. */
  readonly image: string
  readonly entrypoint?: readonly string[]
  readonly arguments: readonly string[]
  readonly variables: Readonly<Record<string, string | Secret>>
  readonly files: readonly MountedFile[]
  /** Thousandths of a core. */
  readonly cpuMilli: number
  readonly memoryMiB: number
  /**
   * GiB that it may write outside of its volumes. An engine whose file system can enforces it; others
   * ignore it. Absent: no limit.
   */
  readonly layerGiB?: number
  /** Names under which other services of the environment reach this one. */
  readonly aliases: readonly string[]
  /** Labels of its users, for people who look at the engine; none of them may mean anything to the engine. */
  readonly labels?: Readonly<Record<string, string>>
  /** The program may write to its volumes and nowhere else. */
  readonly hasReadOnlyRoot?: boolean
}

export interface LongRunning extends Program {
  readonly shape: 'long-running'
  readonly replicas: { readonly min: number; readonly max: number }
  readonly ports: readonly Port[]
  /** Ports that answer on the machine itself, too. One of the machine can be published by one replica only. */
  readonly publishedPorts?: readonly PublishedPort[]
  readonly probes: Probes
  readonly storage: readonly Volume[]
  /** By which a replica is asked to end; without one, by that of its image. */
  readonly stopSignal?: 'SIGINT' | 'SIGTERM'
  /** How long a replica may take to end before it is killed. */
  readonly stopGraceSeconds: number
  /** Runs inside each replica right after its program has started, also after a restart. A start fails if it fails. */
  readonly postStart?: readonly string[]
  /** Runs inside each replica before its program is asked to end, within the grace time. */
  readonly preStop?: readonly string[]
  /** How long `start` waits for health, over all replicas; a restart of the caller continues with what is left. */
  readonly startDeadlineSeconds: number
}

/** A program that is run to its end. */
export interface Task extends Program {
  readonly shape: 'task'
  /** How long one run may take before it is ended. */
  readonly timeoutSeconds: number
  /** How long its program may take to end before it is killed. */
  readonly stopGraceSeconds: number
  /** Absolute path of a file whose text belongs to the outcome; its directory is there, and every user may write in it. */
  readonly outputFile?: string
  /** It is begun at a moment: what can be done before is done when it is prepared. */
  readonly isPunctual?: boolean
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
  /** An IP address of the machine, or that which stands for all of them. */
  readonly hostAddress: string
  readonly hostPort: number
}

/** Neither given: ready when the first TCP port accepts a connection; without ports, when it has run for three seconds. */
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

/** What a workload is given that no line may show. */
export const secretsIn = ({ variables, files }: Pick<Program, 'variables' | 'files'>): Secret[] =>
  [...Object.values(variables), ...files.map(({ content }) => content)].filter((value) => value instanceof Secret)
