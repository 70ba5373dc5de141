import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sql } from '../database/index.ts'
import { aboveFloor, sizeText } from '../lib/disk-floor.ts'
import { readArchiveFile, type Written, writeArchiveFile } from './archive-file.ts'
import { type Manifest, manifestOf } from './archive-manifest.ts'
import type { FileRow } from './file-store.ts'
import type { BackupOptions } from './options.ts'

type Kept = Pick<BackupOptions, 'database' | 'directory' | 'vault'>

/** A file by its place in the list of its backup. */
type Place = Pick<FileRow, 'backup_id' | 'number' | 'path'>

/**
 * The place of the key of one file. Each key has its own, so a key cannot be moved to another file.
 */
const cellOf = ({ backup_id, number }: Place) => ({
  table: 'backup_file',
  row: `${backup_id} ${number}`,
  column: 'sealed_key',
})

/** Returns the path of the file of one volume of a backup, below the directory of backups. */
export const pathOf = (
  {
    organization,
    service,
    backup,
  }: { readonly organization: string; readonly service: string; readonly backup: string },
  number: number,
): string => join(organization, service, `${backup}-${number}.qsb`)

/**
 * Writes an archive with a new key, and returns both. Stops with an error before the disk is full.
 */
export async function keepArchive(
  { directory, floorBytes, clock }: Pick<BackupOptions, 'directory' | 'floorBytes' | 'clock'>,
  { path }: Place,
  archive: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<{ readonly written: Written; readonly key: Buffer }> {
  const key = randomBytes(32)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const watch = { directories: [directory], floorBytes, clock, error: noRoom }
  const written = await aboveFloor(watch, signal, (bounded) =>
    writeArchiveFile(join(directory, path), endingWith(archive, bounded), key),
  )
  return { written, key }
}

const noRoom = (floorBytes: number): Error =>
  new Error(
    `less than ${sizeText(floorBytes)} of the disk of the backups is free. That much is reserved for running ` +
      'services (QUAYSIDE_DISK_FLOOR). Free space there, and try again',
  )

/** Passes pieces on until the signal is aborted. */
async function* endingWith(pieces: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    signal.throwIfAborted()
    yield piece
  }
}

/**
 * Seals the key for storage. This happens when it is stored, not before, because the organization's
 * key may change in between.
 */
export const sealKey = ({ vault }: Kept, sql: Sql, organization: string, place: Place, key: Buffer): Promise<string> =>
  vault.seal(sql, organization, cellOf(place), key.toString('base64'))

/** Reads the archive of a file. Throws ArchiveError, also if it was never written. */
export async function* openArchive(kept: Kept, organization: string, file: FileRow): AsyncIterable<Uint8Array> {
  const key = await kept.vault.open(kept.database, organization, cellOf(file), file.sealed_key ?? '')
  yield* readArchiveFile(join(kept.directory, file.path), Buffer.from(key.reveal(), 'base64'))
}

/**
 * Reads a whole file. Throws ArchiveError, and an Error if its content differs from what was
 * written.
 */
export async function checkArchive(kept: Kept, organization: string, file: FileRow): Promise<void> {
  const found = await manifestOf(openArchive(kept, organization, file))
  const problem = difference(file, found)
  if (problem !== undefined) throw new Error(`The file of ${file.mount_point} is not what was written: ${problem}.`)
}

/** Pure: describes how the files differ from the backup; undefined if they do not. */
export function difference({ entries, digest }: FileRow, found: Manifest): string | undefined {
  if (entries !== found.entries) return `it has ${found.entries} entries in place of ${entries}`
  return digest === found.digest ? undefined : 'its files have another content, owner or mode'
}
