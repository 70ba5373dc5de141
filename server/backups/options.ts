import type { Database, Sql } from '../database/index.ts'
import type { Engines, Runner, VolumeStore } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { ServiceRow } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Workflows } from '../workflows/index.ts'

/** A volume of a service on its engine. */
export interface ServiceVolume {
  readonly id: string
  readonly sizeGiB: number
}

/** How a proof starts a separate database. */
export interface ScratchStarter {
  /**
   * Starts the running or last version of a database on another volume, as a service and in an
   * environment of that id, and waits until it is healthy. Returns false if there is no version,
   * and undefined if services of this kind are not started for a proof.
   */
  readonly startScratch: (
    service: ServiceRow,
    scratch: { readonly id: string; readonly volume: string },
    attempt: Attempt,
  ) => Promise<boolean | undefined>
}

/** The volumes of services. */
interface VolumesOfServices {
  /** Returns the volumes of a service, by their mount paths. */
  readonly volumesOf: (service: ServiceRow) => ReadonlyMap<string, ServiceVolume>
  /** Returns the same for the running or last version: the volumes that were created. */
  readonly madeVolumesOf: (sql: Sql, service: ServiceRow) => Promise<ReadonlyMap<string, ServiceVolume>>
  /**
   * The program of a service that prints the contents of its one volume while the service runs;
   * undefined if there is none.
   */
  readonly archiveCommandOf: (service: ServiceRow) => readonly string[] | undefined
  /** The longest time for which users of a volume are paused. */
  readonly mostStandingSeconds: number
}

/** The place of the backup files, and who may fill it. */
interface BackupPlace {
  readonly directory: string
  /** Free space that backups leave on its disk. Undefined means the usual part. */
  readonly floorBytes: number | undefined
  /** Returns why the organization may use no more disk space; undefined if it may. */
  readonly diskRefusal: (sql: Sql, organizationId: string) => Promise<string | undefined>
  /** Returns why a service cannot use data of that version; undefined if it can. */
  readonly dataRefusal: (service: ServiceRow, version: string | null) => string | undefined
}

/** The parts of other rooms that making, proving and restoring backups use. */
export interface BackupOptions extends ScratchStarter, VolumesOfServices, BackupPlace {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly vault: Vault
  readonly engines: Pick<Engines<VolumeStore & Runner>, 'all' | 'engineOf'>
  readonly workflows: () => Pick<Workflows, 'submit' | 'nudge'>
  /** Retries while the engine is unavailable. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
  readonly restoring: Restoring
}

/** Requests that a restore makes for its service; see the requests room. */
export interface Restoring {
  readonly hold: (sql: Sql, service: ServiceRow) => Promise<void>
  readonly stop: (service: ServiceRow, restore: string) => Promise<string | undefined>
  readonly start: (service: ServiceRow, restore: string) => Promise<string>
  readonly outcome: (requestId: string, serviceId: string) => Promise<{ readonly reason: string | null } | undefined>
}

/** Long enough for a volume. */
export const volumeSeconds = 24 * 3600

/** Writes output of the engine to the operator's log. */
export const attemptOf = ({ log }: Pick<BackupOptions, 'log'>, signal: AbortSignal, backup: string): Attempt => ({
  signal,
  output: { line: (text, level) => log[level === 'warning' ? 'warn' : (level ?? 'info')]({ backup }, text) },
})

/** Returns the reason for the end of a workflow, for people. */
export const reasonText = (reason: string): string => reason.replace(/^failed: /, '')
