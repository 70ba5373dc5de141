import { findService } from '../services/index.ts'
import { listFiles } from './file-store.ts'
import { openArchive } from './files.ts'
import { attemptOf, type BackupOptions } from './options.ts'

/**
 * Recreates the volumes of a service from the files of a backup, by their mount paths. Storage that
 * the service no longer has is skipped. Throws EngineError and ArchiveError; then a volume may be
 * missing.
 */
export async function writeBack(
  options: BackupOptions,
  { serviceId }: { readonly serviceId: string },
  backupId: string,
  signal: AbortSignal,
): Promise<void> {
  const { database, engines, patiently, volumesOf } = options
  const service = await findService(database, serviceId)
  if (!service) throw new Error('the service does not exist any more')
  const engine = engines.engineOf({ engine: service.cluster_engine })
  const volumes = volumesOf(service)
  const owner = { service: service.id, environment: service.environment_id }
  const attempt = attemptOf(options, signal, backupId)
  for (const file of await listFiles(database, backupId)) {
    const volume = volumes.get(file.mount_point)
    if (volume === undefined) continue
    const target = { ...owner, sizeGiB: volume.sizeGiB }
    await patiently(attempt, () =>
      engine.writeVolume(volume.id, target, openArchive(options, service.organization_id, file), attempt),
    )
  }
}
