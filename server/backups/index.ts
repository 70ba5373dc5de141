// Backups of what services have in volumes: files with their archives, compressed and sealed.
export { ArchiveError, type ArchiveFailure } from './archive-error.ts'
export { readArchiveFile, type Written, writeArchiveFile } from './archive-file.ts'
export { type Manifest, manifestOf } from './archive-manifest.ts'
