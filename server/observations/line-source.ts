import type { Database } from '../database/index.ts'
import { type Engines, engineOrNone, type LogSource } from '../engines/index.ts'
import { findService } from '../services/index.ts'

/**
 * Returns the source of a service's lines, which is the engine of its cluster. A service without a
 * record has no source.
 */
export const createLineSource =
  (database: Database, { engineOf }: Pick<Engines<LogSource>, 'engineOf'>) =>
  async (id: string): Promise<LogSource> => {
    const service = await findService(database, id)
    return engineOrNone(engineOf, { engine: service?.cluster_engine ?? null })
  }
