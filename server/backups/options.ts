import type { Database, Sql } from '../database/index.ts'
import type { Engines, Runner, VolumeStore } from '../engines/index.ts'
import type { Attempt } from '../lib/attempt.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../lib/log.ts'
import type { ServiceRow } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'
import type { Workflows } from '../workflows/index.ts'

/** What proofs need of others: starts a database on the side. */
export interface ScratchStarter {
  /**
   * Starts the version of a database that runs, or ran last, on another volume, as a service and in an environment of that id, and waits until it
   * is healthy. False where there is no version; undefined where services of the kind are not tried.
   */
  readonly startScratch: (
    service: ServiceRow,
    scratch: { readonly id: string; readonly volume: string },
    attempt: Attempt,
  ) => Promise<boolean | undefined>
}

/** What backups are made, proven and restored through. */
export interface BackupOptions extends ScratchStarter {
  readonly database: Database
  readonly clock: Clock
  readonly log: Logger
  readonly vault: Vault
  /** Where the files of backups are. */
  readonly directory: string
  readonly engines: Pick<Engines<VolumeStore & Runner>, 'all' | 'engineOf'>
  /** What uses a volume stands still for so long at most. */
  readonly mostStandingSeconds: number
  readonly workflows: () => Pick<Workflows, 'submit' | 'nudge'>
  /** Goes on trying while the engine is away. */
  readonly patiently: <T>(attempt: Attempt, work: () => Promise<T>) => Promise<T>
  /** The ids of the volumes that a service has, by the paths at which they are mounted. */
  readonly volumesOf: (service: ServiceRow) => ReadonlyMap<string, string>
  /** The same of the version that runs, or ran last: those that were made. */
  readonly madeVolumesOf: (sql: Sql, service: ServiceRow) => Promise<ReadonlyMap<string, string>>
  /** Why the organization may take nothing more of the disk; undefined if it may. */
  readonly diskRefusal: (sql: Sql, organizationId: string) => Promise<string | undefined>
  /** The program of a service that prints what its one volume holds while it goes on; undefined where there is none. */
  readonly archiveCommandOf: (service: ServiceRow) => readonly string[] | undefined
  /** Why a service cannot have data of that version; undefined where it can. */
  readonly dataRefusal: (service: ServiceRow, version: string | null) => string | undefined
  readonly restoring: Restoring
}

/** Requests of a restore for its service; see the requests room. */
export interface Restoring {
  readonly hold: (sql: Sql, service: ServiceRow) => Promise<void>
  readonly stop: (service: ServiceRow, restore: string) => Promise<string | undefined>
  readonly start: (service: ServiceRow, restore: string) => Promise<string>
  readonly outcome: (requestId: string, serviceId: string) => Promise<{ readonly reason: string | null } | undefined>
}

/** As long as a volume takes. */
export const volumeSeconds = 24 * 3600

/** What the engine tells on the way goes to the operator's log. */
export const attemptOf = ({ log }: Pick<BackupOptions, 'log'>, signal: AbortSignal, backup: string): Attempt => ({
  signal,
  output: { line: (text, level) => log[level === 'warning' ? 'warn' : (level ?? 'info')]({ backup }, text) },
})

/** The reason for which a workflow ended, as people read it. */
export const reasonText = (reason: string): string => reason.replace(/^failed: /, '')
