import type { Duplex } from 'node:stream'
import type { Capability } from '@quayside/contract/services/capabilities.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { DiskSpace, EngineDisk, InodeCounts } from './disk.ts'
import type { PinnedImage, RegistryLogin } from './image.ts'
import type { LogLine, LogQuery } from './log-line.ts'
import type { Endpoint, Observation, ReplicaUsage } from './observation.ts'
import type { RunningTask, TaskOutcome } from './task.ts'
import type { ShellWish, Terminal } from './terminal.ts'
import type { CopyLimits, VolumeCopy, VolumeOwner, VolumeWriter } from './volume.ts'
import type { Release, Task, Workload } from './workload.ts'

export * from './disk.ts'
export * from './engine-error.ts'
export * from './image.ts'
export * from './log-line.ts'
export * from './observation.ts'
export * from './task.ts'
export * from './terminal.ts'
export * from './volume.ts'
export * from './workload.ts'

/** One try of a start. */
export interface Starting extends Attempt {
  /** Is told when a replica is about to begin, each time; where all run already it is not. */
  readonly whenBegun?: () => void
}

/**
 * What runs workloads on one cluster. Engines get plain data and give plain data: they know neither the database nor HTTP.
 * Everything an engine makes carries the owner's labels, so that it can be found again after a crash; nothing without
 * those labels is ever touched. Every call may be repeated.
 */
export interface Engine {
  /** The shapes that this engine can run; others are refused before anything starts. */
  readonly shapes: ReadonlySet<Workload['shape']>
  /**
   * The capabilities that it has for advanced settings. Its cluster rejects settings that need
   * others.
   */
  readonly capabilities: ReadonlySet<Capability>
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
  /** Returns what is free on the engine's disk, which is cheap; undefined if it cannot be seen from here. */
  diskSpace(signal: AbortSignal): Promise<DiskSpace | undefined>
  /**
   * Counts the inodes of every volume, and of what replicas and runs wrote outside of volumes: each up to `most` and a little more. May
   * take minutes. Undefined if the engine's disk cannot be read from here.
   */
  countInodes(most: number, signal: AbortSignal): Promise<InodeCounts | undefined>
  /** Removes an image by its pinned reference. Gives false, and leaves it, while a container or another name uses it. */
  removeImage(reference: string, signal: AbortSignal): Promise<boolean>
  /** Removes what builds kept and nothing uses, the longest unused first, until so many bytes are left. Gives the bytes that were freed. */
  trimBuildCache(keepBytes: number, signal: AbortSignal): Promise<number>
  /**
   * Makes what belongs to the environment itself (its network) before the first release is started in it, which would make it otherwise: the engine
   * may have time for that before. May be repeated. Throws EngineError.
   */
  prepareEnvironment(environment: string, attempt: Attempt): Promise<void>
  /**
   * Makes the release run and returns once every replica is healthy. Throws EngineError; then nothing of the release is left but its last lines.
   */
  start(release: Release, attempt: Starting): Promise<Endpoint[]>
  /**
   * Makes what one run of a task needs, and does not begin it. `run` is a stable id of that run, of up to 80 lower-case letters, digits
   * and hyphens: what an earlier try made is found by it. Throws EngineError.
   */
  prepareTask(release: Release<Task>, run: string, attempt: Attempt): Promise<void>
  /**
   * Runs what was prepared, once, and waits for its end; a run that has begun is joined, one that has ended tells its outcome. Ends it when
   * its time is over. Whatever its exit code, what is left of the run stays until `endTask`. Throws EngineError: where it was never
   * prepared, or was removed by somebody else, it is not begun anew. `whenReady` is waited for when nothing but the beginning is left to be
   * done; a run that has begun does not ask it.
   */
  runTask(
    release: Release<Task>,
    run: string,
    attempt: Attempt & { readonly whenReady?: () => Promise<void> },
  ): Promise<TaskOutcome>
  /** Ends the run if it is still going, and removes what is left of it. */
  endTask(run: string, attempt: Attempt): Promise<void>
  /** Every run of which something is there, in one call. */
  listTasks(signal: AbortSignal): Promise<RunningTask[]>
  /** What runs of the service for long; its tasks are no part of that. Absence is an answer, not an error. */
  observe(service: string, signal: AbortSignal): Promise<Observation>
  /**
   * What runs for every service that carries our labels, in one call. The same map once more: nothing happened since it was made.
   */
  observeAll(signal: AbortSignal): Promise<ReadonlyMap<string, Observation>>
  /** Ends everything of the service but the release `keep`, tasks included; volumes stay. */
  retire(service: string, keep: string | undefined, attempt: Attempt): Promise<void>
  /** Ends these replicas of the service, as they are granted; the others go on. Those that are not there are ended. */
  endReplicas(service: string, replicas: readonly string[], attempt: Attempt): Promise<void>
  /** Ends everything of the service and removes its volumes. */
  erase(service: string, attempt: Attempt): Promise<void>
  /**
   * Makes copies of volumes as they all were at one moment. Whatever uses them stands still meanwhile, so its clients wait, and goes on
   * afterwards, also where the copy fails or its limit is over. A volume that was never made is left out; what a copy held before is replaced, so nothing may
   * use it yet. Gives the bytes that were copied. Throws EngineError.
   */
  copyVolumes(copies: readonly VolumeCopy[], limits: CopyLimits, attempt: Attempt): Promise<number>
  /**
   * Gives what a volume holds that nothing uses at the moment, as one archive of tar, piece by piece to `write`, which is waited for: owners,
   * modes, links, and the directory of the volume itself, all below `volume/`. An archive that breaks off, or whose volume was taken into use
   * meanwhile, ends with an error inside of `write`. Gives the bytes of the archive. Throws EngineError, `refused` where there is no such
   * volume of this installation; what `write` throws comes through as it is.
   */
  readVolume(volume: string, write: VolumeWriter, attempt: Attempt): Promise<number>
  /**
   * Makes the volume anew, of that owner, out of such an archive; what it held before is gone. Nothing may use it. Gives the bytes of the
   * archive. Throws EngineError, `refused` where the archive is not whole; what throws inside of `archive` comes through as it is. Nothing
   * of the volume is left then, unless it is refused because something uses it.
   */
  writeVolume(volume: string, owner: VolumeOwner, archive: AsyncIterable<Uint8Array>, attempt: Attempt): Promise<number>
  /** Removes one volume of this installation that nothing uses; does nothing where there is none. Throws EngineError. */
  removeVolume(volume: string, attempt: Attempt): Promise<void>
  /** Lets everything go on that stands still and that no copy of this process needs: one that was cut off has left it. Gives what went on. */
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
  /** A TCP connection to a port of a replica, whether or not its settings name the port. Throws EngineError('unreachable') if nobody listens. */
  connect(service: string, port: number, replica: string | undefined, signal: AbortSignal): Promise<Duplex>
  /** What each running replica of the service uses now; nothing runs: an empty list. May take half a second for replicas never asked before. */
  usage(service: string, signal: AbortSignal): Promise<ReplicaUsage[]>
  /** Rejects with the reason when the engine cannot be reached. */
  ping(signal: AbortSignal): Promise<void>
}
