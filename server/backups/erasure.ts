import { readdir, rm, rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Sql } from '../database/index.ts'
import { enginesOfRow, type Runner } from '../engines/index.ts'
import { newId } from '../lib/id.ts'
import type { Reconciler } from '../lib/reconciler.ts'
import { findService } from '../services/index.ts'
import type { Workflow } from '../workflows/index.ts'
import { findBackup } from './backup-store.ts'
import { forgetErased, listErased } from './file-store.ts'
import { attemptOf, type BackupOptions } from './options.ts'

const scratchWorkflow = 'backup scratch'

/** `engine` is missing in inputs of earlier versions, and if the service no longer has a row. */
type Input = { readonly id: string; readonly engine?: string }

/**
 * Schedules the removal of a backup's or proof's remains on the engine, in the transaction that
 * ends it.
 */
export async function submitScratchErasure(
  { workflows }: BackupOptions,
  sql: Sql,
  { id, backupId }: { readonly id: string; readonly backupId: string },
): Promise<void> {
  const backup = await findBackup(sql, backupId)
  const service = backup && (await findService(sql, backup.service_id))
  const engine = service?.cluster_engine
  const countsFor = backup ? { serviceId: backup.service_id } : 'platform'
  const workflow = newId()
  await workflows().submit(sql, {
    id: workflow,
    kind: scratchWorkflow,
    key: workflow,
    input: { id, ...(engine && { engine }) },
    countsFor,
  })
}

/** Ends everything that runs as a service of this id, and removes its volumes and its network. */
export async function eraseScratch(
  options: BackupOptions,
  { id, service }: { readonly id: string; readonly service: { readonly cluster_engine: string | null } | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { engines, patiently } = options
  const attempt = attemptOf(options, signal, id)
  const erase = async (engine: Runner): Promise<void> => {
    await patiently(attempt, () => engine.erase(id, attempt))
    await patiently(attempt, () => engine.eraseEnvironment(id, attempt))
  }
  await Promise.all(enginesOfRow(engines, service).map(erase))
}

export const createScratchWorkflow = (options: BackupOptions): Workflow<Input> => ({
  name: scratchWorkflow,
  run: async ({ id, engine }, step) => {
    const service = engine === undefined ? undefined : { cluster_engine: engine }
    await step('ERASE', ({ signal }) => eraseScratch(options, { id, service }, signal))
  },
  abandoned: async ({ id }, reason) => {
    options.log.error({ id, reason }, 'what a backup left on the engine could not be removed; remove it by hand')
  },
})

/** Removes the files of backups without a record, and directories that are empty then. */
export const createFileEraser = ({
  database,
  directory,
}: Pick<BackupOptions, 'database' | 'directory'>): Reconciler => ({
  name: 'backup files',
  everyMs: 5000,
  reconcile: async (signal) => {
    for (const path of await listErased(database)) {
      if (signal.aborted) return
      const file = join(directory, path)
      await removeFile(file)
      await removeEmpty(dirname(file))
      await removeEmpty(dirname(dirname(file)))
      await forgetErased(database, path)
    }
  },
})

/** Includes unfinished drafts of the file. */
async function removeFile(file: string): Promise<void> {
  const directory = dirname(file)
  const names = await readdir(directory).catch(unless('ENOENT'))
  const own = (names ?? []).filter((name) => name.startsWith(basename(file)))
  for (const name of own) await rm(join(directory, name), { force: true })
}

async function removeEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch(unless('ENOTEMPTY', 'ENOENT'))
}

/** Ignores these failures. */
const unless =
  (...codes: readonly string[]) =>
  (error: NodeJS.ErrnoException): undefined => {
    if (!codes.includes(error.code ?? '')) throw error
  }
