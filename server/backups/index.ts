// Backups of the volumes of services: made, proven by a separate restore, restored, kept and
// removed. Runs nothing by itself: engines do.

export { ArchiveError, type ArchiveFailure } from './archive-error.ts'
export { readArchiveFile, type Written, writeArchiveFile } from './archive-file.ts'
export { type Manifest, manifestOf } from './archive-manifest.ts'
export { isScratch } from './backup-store.ts'
export { createBackupWorkflow } from './backup-workflow.ts'
export { type Backups, createBackups } from './backups.ts'
export { createFileEraser, createScratchWorkflow } from './erasure.ts'
export type { BackupOptions, ScratchStarter } from './options.ts'
export { createProofWorkflow } from './proof-workflow.ts'
export { createRestoreWorkflow } from './restore-workflow.ts'
export { createBackupScheduler } from './scheduler.ts'
