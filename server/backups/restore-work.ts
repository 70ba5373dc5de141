import { derivedId } from '../lib/id.ts'
import type { RunContext, Step } from '../workflows/index.ts'
import type { BackupOptions } from './options.ts'

export type RestoreInput = { readonly serviceId: string; readonly backupId: string }

/** A restore that is in progress. */
export interface RestoreWork extends RestoreInput {
  readonly options: BackupOptions
  /** Of the restore. */
  readonly id: string
  readonly step: Step
  readonly context: RunContext
}

/** The backup of the current data, made before a restore writes. */
export const beforeId = (restore: string): string => derivedId(restore, 'before')
