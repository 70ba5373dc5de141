import type { Sql } from '../database/index.ts'
import { boundedArchive, localEngine } from '../engines/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { derivedId } from '../lib/id.ts'
import { findService } from '../services/index.ts'
import type { RunContext, Step } from '../workflows/index.ts'
import { findBackup, updateBackup } from './backup-store.ts'
import { eraseScratch } from './erasure.ts'
import { insertFiles, listFiles, markErased, setWritten } from './file-store.ts'
import { keepArchive, pathOf, sealKey } from './files.ts'
import { attemptOf, type BackupOptions, volumeSeconds } from './options.ts'

/** One volume of a backup that is being made. */
type Planned = {
  readonly number: number
  readonly mount_point: string
  readonly path: string
  readonly from: string
  /** The volume that it is copied into, to be read without pausing the service. */
  readonly to: string
  /** Plans of earlier versions have none. */
  readonly sizeGiB?: number
}
/** The plan of a backup. */
type Plan = {
  /** The name of the service's engine. Plans of earlier versions have none. */
  readonly engine?: string | null
  readonly organization: string
  readonly service: string
  readonly archiveCommand: string[]
  readonly volumes: Planned[]
}

/** A backup and the workflow that makes it; `prefix` precedes the names of the steps. */
export interface Making {
  readonly options: BackupOptions
  readonly id: string
  readonly step: Step
  readonly context: RunContext
  readonly prefix?: string
}

/**
 * Copies the volumes of a service as of one moment, writes each copy into a file, and removes the
 * copies. Returns false if the backup was deleted with its service in the meantime. Throws with the
 * reason; then copies may remain, see `erasure.ts`.
 */
export async function makeBackup({ options, id, step, context, prefix = '' }: Making): Promise<boolean> {
  const plan = await step(`${prefix}PLAN`, () => context.fenced((sql) => planBackup(sql, options, id)))
  if (!plan) return false
  const attempt = (signal: AbortSignal) => attemptOf(options, signal, id)
  const long = { deadlineSeconds: volumeSeconds }
  await step(`${prefix}COPY`, ({ signal }) => copyAll(options, id, plan, attempt(signal)), long)
  failpoint('backup.copied')
  let isThere = true
  for (const volume of plan.volumes) {
    const write = ({ signal }: { readonly signal: AbortSignal }) =>
      writeOne({ options, id, context }, plan, volume, attempt(signal))
    isThere = (await step(`${prefix}FILE/${volume.number}`, write, long)) && isThere
  }
  failpoint('backup.written')
  await step(`${prefix}ERASE`, ({ signal }) =>
    eraseScratch(options, { id, service: { cluster_engine: plan.engine ?? localEngine } }, signal),
  )
  return isThere
}

async function planBackup(sql: Sql, options: BackupOptions, id: string): Promise<Plan | null> {
  const backup = await findBackup(sql, id)
  const service = backup && (await findService(sql, backup.service_id))
  if (!service) return null
  const made = await options.madeVolumesOf(sql, service)
  if (made.size === 0) throw new Error('the service has no volumes')
  const place = { organization: service.organization_id, service: service.id, backup: id }
  const volumes = [...made].map(([mount_point, { id: from, sizeGiB }], index): Planned => {
    const number = index + 1
    return { number, mount_point, from, path: pathOf(place, number), to: derivedId(id, String(number)), sizeGiB }
  })
  await updateBackup(sql, id, { state: 'RUNNING' }, options.clock.now())
  await insertFiles(
    sql,
    volumes.map(({ number, mount_point, path }) => ({ backup_id: id, number, mount_point, path })),
  )
  const archiveCommand = [...(options.archiveCommandOf(service) ?? [])]
  const engine = service.cluster_engine
  return { engine, organization: service.organization_id, service: service.id, archiveCommand, volumes }
}

async function copyAll(
  { engines, mostStandingSeconds, patiently }: BackupOptions,
  id: string,
  { engine: name = localEngine, service, archiveCommand, volumes }: Plan,
  attempt: ReturnType<typeof attemptOf>,
): Promise<void> {
  const engine = engines.engineOf({ engine: name })
  const archive = archiveCommand.length > 0 ? { archive: { service, command: archiveCommand } } : {}
  const owner = { service: id, environment: id }
  const copies = volumes.map(({ from, to, sizeGiB }) => ({ from, to, owner, sizeGiB, ...archive }))
  await patiently(attempt, () => engine.copyVolumes(copies, { mostStandingSeconds }, attempt))
}

/** Returns false if the backup is gone; its file must then be removed, too. */
async function writeOne(
  { options, id, context }: Pick<Making, 'options' | 'id' | 'context'>,
  { engine: name = localEngine, organization }: Plan,
  { number, path, to, sizeGiB }: Planned,
  attempt: ReturnType<typeof attemptOf>,
): Promise<boolean> {
  const { engines, patiently } = options
  const engine = engines.engineOf({ engine: name })
  const place = { backup_id: id, number, path }
  const files = await listFiles(options.database, id)
  if (files.length === 0) return false
  let kept: Awaited<ReturnType<typeof keepArchive>> | undefined
  const keep = async (archive: AsyncIterable<Uint8Array>): Promise<void> => {
    const bounded = sizeGiB === undefined ? archive : boundedArchive(archive, sizeGiB)
    kept = await keepArchive(options, place, bounded, attempt.signal)
  }
  await patiently(attempt, () => engine.readVolume(to, keep, attempt))
  const { written, key } = kept ?? fail()
  return context.fenced(async (sql) => {
    const sealedKey = await sealKey(options, sql, organization, place, key)
    const isThere = await setWritten(sql, place, written, sealedKey)
    if (!isThere) await markErased(sql, [path])
    return isThere
  })
}

function fail(): never {
  throw new Error('the engine returned no archive of the volume')
}
