import type { Sql } from '../database/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { gibibytes } from '../lib/gibibytes.ts'
import { derivedId, newId } from '../lib/id.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import type { RunContext, Step, Workflow } from '../workflows/index.ts'
import { type Manifest, manifestOf } from './archive-manifest.ts'
import { findBackup, unfinishedProofs, updateBackup } from './backup-store.ts'
import { eraseScratch, submitScratchErasure } from './erasure.ts'
import { type FileRow, listFiles } from './file-store.ts'
import { difference, openArchive } from './files.ts'
import { attemptOf, type BackupOptions, reasonText, volumeSeconds } from './options.ts'
import { prune } from './prune.ts'

const proofWorkflow = 'backup proof'

type Input = { readonly backupId: string; readonly proofId: string }

/** A database that was copied while it served replays its log before it answers. */
const startSeconds = 900

/** Queues a proof of the backup: one at a time is proven on the machine. */
export async function submitProof({ workflows, clock }: BackupOptions, sql: Sql, backupId: string): Promise<void> {
  const id = newId()
  await updateBackup(sql, backupId, { proof_id: id, proof_state: 'RUNNING', proof_reason: null }, clock.now())
  // One runs at a time for all organizations, so proofs take at most one place of the platform.
  const [key, countsFor] = [proofWorkflow, 'platform'] as const
  await workflows().submit(sql, { id, kind: proofWorkflow, key, input: { backupId, proofId: id }, countsFor })
}

/**
 * Restores a backup into separate volumes of a service that has no record, and compares every file,
 * owner and mode with the backup. A database is also started on it and must become healthy, in a
 * network that nobody else can reach. Everything is removed in the end. The id of the workflow is
 * also the id of the service and of its environment.
 */
export function createProofWorkflow(options: BackupOptions): Workflow<Input> {
  return {
    name: proofWorkflow,
    run: async ({ backupId }, step, context) => {
      const backup = await findBackup(options.database, backupId)
      const service = backup && (await findService(options.database, backup.service_id))
      const text =
        service && backup.proof_id === context.id && (await prove(options, { service, backupId }, step, context))
      await step('ERASE', ({ signal }) => eraseScratch(options, { id: context.id, service }, signal))
      if (text) await step('END', () => context.fenced((sql) => endProof(options, sql, backupId, text)))
    },
    abandoned: async (input, reason, sql) => failProof(options, sql, input, reasonText(reason)),
    unfinished: unfinishedProofs,
  }
}

interface Proven {
  readonly service: ServiceRow
  readonly backupId: string
}

/** Returns what was proven, in words. */
async function prove(
  options: BackupOptions,
  { service, backupId }: Proven,
  step: Step,
  { id }: RunContext,
): Promise<string> {
  const files = await listFiles(options.database, backupId)
  for (const file of files) {
    const compare = ({ signal }: { readonly signal: AbortSignal }) => compareOne(options, service, file, { id, signal })
    await step(`FILE/${file.number}`, compare, { deadlineSeconds: volumeSeconds })
  }
  failpoint('backup.compared')
  const compared = 'Every file of it was restored on the side and compared'
  const isStarted = await step('START', ({ signal }) => start(options, service, { id, signal }), {
    deadlineSeconds: startSeconds,
  })
  if (isStarted === null) return `${compared}.`
  return isStarted
    ? `${compared}, and the database became healthy on it.`
    : `${compared}; the database has no version that could be started on it.`
}

/** A proof of this id, and the signal that ends it. */
interface Proof {
  readonly id: string
  readonly signal: AbortSignal
}

const archiveGiB = ({ archive_bytes: bytes }: FileRow): number => Math.ceil((bytes ?? 0) / gibibytes(1))

const scratchVolume = (proof: string, number: number): string => derivedId(proof, String(number))

async function compareOne(
  options: BackupOptions,
  service: ServiceRow,
  file: FileRow,
  { id, signal }: Proof,
): Promise<void> {
  const { engines, patiently } = options
  const engine = engines.engineOf({ engine: service.cluster_engine })
  const attempt = attemptOf(options, signal, file.backup_id)
  const volume = scratchVolume(id, file.number)
  // The service may have lost this storage since.
  const { sizeGiB = 1 } = options.volumesOf(service).get(file.mount_point) ?? {}
  const target = { service: id, environment: id, sizeGiB: Math.max(sizeGiB, archiveGiB(file)) }
  await patiently(attempt, () =>
    engine.writeVolume(volume, target, openArchive(options, service.organization_id, file), attempt),
  )
  let found: Manifest | undefined
  const look = async (archive: AsyncIterable<Uint8Array>): Promise<void> => {
    found = await manifestOf(archive)
  }
  await patiently(attempt, () => engine.readVolume(volume, look, attempt))
  const problem = found ? difference(file, found) : 'nothing of it could be read'
  if (problem !== undefined)
    throw new Error(`What was restored of ${file.mount_point} is not what was backed up: ${problem}.`)
}

/** Returns null if services of this kind are not started for a proof. */
async function start(options: BackupOptions, service: ServiceRow, { id, signal }: Proof): Promise<boolean | null> {
  const attempt = attemptOf(options, signal, id)
  const scratch = { id, volume: scratchVolume(id, 1) }
  return (await options.patiently(attempt, () => options.startScratch(service, scratch, attempt))) ?? null
}

async function endProof({ clock }: BackupOptions, sql: Sql, backupId: string, text: string): Promise<void> {
  const now = clock.now()
  const proven = { proof_id: null, proof_state: 'PROVEN', proof_at: now, proof_reason: text } as const
  if (!(await updateBackup(sql, backupId, proven, now))) return
  const backup = await findBackup(sql, backupId)
  if (backup) await prune(sql, backup.service_id)
}

async function failProof(
  options: BackupOptions,
  sql: Sql,
  { backupId, proofId }: Input,
  reason: string,
): Promise<void> {
  await submitScratchErasure(options, sql, { id: proofId, backupId })
  const backup = await findBackup(sql, backupId)
  if (backup?.proof_id !== proofId) return
  options.log.error({ backup: backupId, reason }, 'a backup could not be restored on the side: do not rely on it')
  const now = options.clock.now()
  await updateBackup(sql, backupId, { proof_id: null, proof_state: 'FAILED', proof_at: now, proof_reason: reason }, now)
}
