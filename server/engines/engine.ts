import type { Duplex } from 'node:stream'
import type { Attempt } from '../lib/attempt.ts'
import type { Secret } from '../lib/secret.ts'

/**
 * What runs workloads on one cluster. Engines get plain data and give plain data: they know neither the database nor HTTP.
 * Everything an engine makes carries the owner's labels, so that it can be found again after a crash; nothing without
 * those labels is ever touched. Every call may be repeated.
 */
export interface Engine {
  /** The shapes that this engine can run; others are refused before anything starts. */
  readonly shapes: ReadonlySet<Workload['shape']>
  /**
   * Asks the registry what a name with a tag (`host/name:tag`) stands for at this moment. Where the registry cannot be reached, an image
   * of that name that the engine has is the answer; so is one that came from no registry where the registry has none. A pinned
   * reference stays what it is, and nobody is asked. Throws EngineError('image-missing' | 'registry-away') with the registry's reason.
   */
  pinImage(image: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<PinnedImage>
  /** Has the engine get the image of a pinned reference, unless it is there. Throws as pinImage does. */
  fetchImage(reference: string, login: RegistryLogin | undefined, attempt: Attempt): Promise<void>
  /** What takes space on the engine's disk, measured now: that may take minutes. */
  disk(signal: AbortSignal): Promise<EngineDisk>
  /** Removes an image by its pinned reference. Gives false, and leaves it, while a container or another name uses it. */
  removeImage(reference: string, signal: AbortSignal): Promise<boolean>
  /** Removes what builds kept and nothing uses, the longest unused first, until so many bytes are left. Gives the bytes that were freed. */
  trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number>
  /** Makes the release run and returns once every replica is healthy. Throws EngineError; then nothing of the release is left but its last lines. */
  start(release: Release, attempt: Attempt): Promise<Endpoint[]>
  /**
   * Makes what one run of a task needs, and does not begin it. `run` is a stable id of that run, of up to 80 lower-case letters, digits
   * and hyphens: what an earlier try made is found by it. Throws EngineError.
   */
  prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void>
  /**
   * Runs what was prepared, once, and waits for its end; a run that has begun is joined, one that has ended tells its outcome. Ends it when
   * its time is over. Whatever its exit code, what is left of the run stays until `endTask`. Throws EngineError: where it was never
   * prepared, or was removed by somebody else, it is not begun anew.
   */
  runTask(release: Release<Task>, run: string, attempt: Attempt): Promise<TaskOutcome>
  /** Ends the run if it is still going, and removes what is left of it. */
  endTask(run: string, attempt: Attempt): Promise<void>
  /** Every run of which something is there, in one call. */
  listTasks(signal: AbortSignal): Promise<RunningTask[]>
  /** What runs of the service for long; its tasks are no part of that. Absence is an answer, not an error. */
  observe(service: string, signal: AbortSignal): Promise<Observation>
  /** What runs for every service that carries our labels, in one call. */
  observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>>
  /** Ends everything of the service but the release `keep`, tasks included; volumes stay. */
  retire(service: string, keep: string | undefined, attempt: Attempt): Promise<void>
  /** Ends these replicas of the service, as they are granted; the others go on. Those that are not there are ended. */
  endReplicas(service: string, replicas: readonly string[], attempt: Attempt): Promise<void>
  /** Ends everything of the service and removes its volumes. */
  erase(service: string, attempt: Attempt): Promise<void>
  /**
   * Makes copies of volumes as they were at one moment. Whatever uses them stands still meanwhile, so its clients wait, and goes on
   * afterwards, also where the copy fails. A volume that was never made is left out; what a copy held before is replaced, so nothing may
   * use it yet. Gives the bytes that were copied. Throws EngineError.
   */
  copyVolumes(copies: readonly VolumeCopy[], owner: VolumeOwner, attempt: Attempt): Promise<number>
  /** Lets everything go on that a copy which was cut off has left standing still; nothing else may be copied now. Gives what went on. */
  resume(signal: AbortSignal): Promise<string[]>
  /** Removes what belongs to the environment itself (its network); does nothing while something is still attached. */
  eraseEnvironment(environment: string, attempt: Attempt): Promise<void>
  /** Lines of all replicas in order of time, then new ones as they come when `follow`; ends when the signal is aborted. */
  logs(service: string, query: LogQuery, signal: AbortSignal): AsyncIterable<LogLine>
  /** Runs a command in a running replica and gives its exit code and output (both streams, at most 64 kB). */
  exec(service: string, command: readonly string[], signal: AbortSignal): Promise<{ exitCode: number; output: string }>
  /**
   * Begins a command with a terminal of its own in a running replica, by argument list. Throws EngineError('refused') where there is no
   * such replica. When the stream is closed, or the signal aborted, the command is ended.
   */
  shell(service: string, wish: ShellWish, signal: AbortSignal): Promise<Terminal>
  /** A TCP connection to a port of a replica, whether or not its settings name the port. Throws EngineError('refused') where nobody listens. */
  connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex>
  /** What each running replica of the service uses now; nothing runs: an empty list. May take half a second for replicas never asked before. */
  usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]>
  /** Rejects with the reason when the engine cannot be reached. */
  ping(signal: AbortSignal): Promise<void>
}

/** Who enters a container registry. */
export interface RegistryLogin {
  readonly username: string
  readonly password: Secret
}

/** What a tag stood for when it was asked: from then on the tag means nothing. */
export interface PinnedImage {
  /** `host/name@sha256:…`; for an image that came from no registry, its id on the engine. */
  readonly reference: string
  /** The digest of the manifest, or the id: `sha256:…`. */
  readonly digest: string
  /** Whether the engine has it already. */
  readonly isThere: boolean
  /** Who named it: `engine` where the registry was not to be had and the engine's own image is used. */
  readonly namedBy: 'registry' | 'engine'
}

/** The engine's disk, in bytes. */
export interface EngineDisk {
  readonly totalBytes: number
  readonly freeBytes: number
  /** All of them, also those of others. */
  readonly images: readonly {
    /** Tags as they are; digests as releases name them. */
    readonly references: readonly string[]
    /** For which it was built. */
    readonly service?: string
    /** What it alone takes, without what it shares with others. */
    readonly bytes: number
    readonly createdAt: Date
  }[]
  /** Those of this installation, by the ids of their storages. */
  readonly volumes: readonly { readonly id: string; readonly bytes: number }[]
  /** Of all builds of the engine: a cache tells nothing of whose it is. */
  readonly buildCache: { readonly bytes: number; readonly freeableBytes: number }
}

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
  /** Names under which other services of the environment reach this one. */
  readonly aliases: readonly string[]
  /** Labels of its users, for people who look at the engine; none of them may mean anything to the engine. */
  readonly labels?: Readonly<Record<string, string>>
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
  /** How long `start` waits for health, over all replicas; a restart of the caller continues with what is left. */
  readonly startDeadlineSeconds: number
}

/** A program that is run to its end. */
export interface Task extends Program {
  readonly shape: 'task'
  /** How long one run may take before it is ended. */
  readonly timeoutSeconds: number
  /** Absolute path of a file whose text belongs to the outcome; its directory is there, and every user may write in it. */
  readonly outputFile?: string
}

/** How one run of a task ended. */
export interface TaskOutcome {
  readonly exitCode: number
  readonly outOfMemory: boolean
  /** Its time was over, and it was ended. */
  readonly timedOut: boolean
  /** By the engine's clock. */
  readonly startedAt: Date
  readonly finishedAt: Date
  /** The text of the output file, at most 1 MiB; absent where it wrote none. */
  readonly output?: string
  /** Why the output file could not be read: it is too long, or no file. */
  readonly outputProblem?: string
  /** The last lines that it printed, without secrets. */
  readonly lastLines: readonly string[]
}

/** One run of which something is there. */
export interface RunningTask {
  readonly run: string
  readonly service: string
  readonly running: boolean
}

/** The longest text of an output file. */
export const longestOutputBytes = 1024 * 1024

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

export interface Volume {
  /** The storage's id: the volume is named by it. */
  readonly id: string
  readonly mountPoint: string
  readonly sizeGiB: number
}

/** Ids of storages, as in `Volume`. */
export interface VolumeCopy {
  readonly from: string
  readonly to: string
  /**
   * A program of a replica of this service that prints what the volume holds, as of one moment, as an archive of tar. Where it can be had, it
   * is taken, and nothing stands still.
   */
  readonly archive?: { readonly service: string; readonly command: readonly string[] }
}

/** Whose a volume is. */
export interface VolumeOwner {
  readonly service: string
  readonly environment: string
}

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
  readonly running: boolean
  readonly exits: number
  readonly exitCode?: number
  readonly outOfMemory: boolean
  readonly endpoints: readonly Endpoint[]
}

/** What is to be run in a terminal. */
export interface ShellWish {
  /** Absent: the newest replica that runs. */
  readonly replica?: string
  readonly command: readonly string[]
  readonly columns: number
  readonly rows: number
}

/** A command that runs: what is written goes in, what it prints comes out; it ends when the command does. */
export interface Terminal {
  readonly stream: Duplex
  resize(columns: number, rows: number): Promise<void>
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

export interface LogQuery {
  readonly follow: boolean
  /** Only lines after this moment of the engine's clock (RFC 3339 with nanoseconds), as given by a former line. */
  readonly after?: string
}

export interface LogLine {
  /** RFC 3339 with nanoseconds, by the engine's clock. */
  readonly at: string
  readonly replica: string
  readonly release: string
  readonly stream: 'stdout' | 'stderr'
  readonly text: string
}

/** Why a workload does not run. `message` says what happened and what to do next. */
export class EngineError extends Error {
  readonly reason: EngineReason
  /** The last lines that the workload printed. */
  readonly lastLines: readonly string[]

  constructor(reason: EngineReason, message: string, options: { lastLines?: readonly string[]; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'EngineError'
    this.reason = reason
    this.lastLines = options.lastLines ?? []
  }
}

export type EngineReason =
  | 'crashed'
  | 'out-of-memory'
  | 'not-ready'
  | 'image-missing'
  /** The registry cannot be asked at the moment; it may have the image. */
  | 'registry-away'
  | 'disk-full'
  | 'refused'
  | 'unreachable'
