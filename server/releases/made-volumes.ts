import type { Sql } from '../database/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { findDeployedRelease } from './release-store.ts'
import { type ServiceVolume, volumesOf } from './versioned.ts'

/**
 * Returns the volumes of a service: those of the release that runs or ran last. If none ever ran,
 * its settings decide.
 */
export const madeVolumesOf = async (sql: Sql, service: ServiceRow): Promise<ReadonlyMap<string, ServiceVolume>> =>
  volumesOf((await findDeployedRelease(sql, service.id)) ?? service, service.id)
