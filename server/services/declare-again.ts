import type { Sql } from '../database/index.ts'
import { publishedPort, routedPorts } from './kind-settings.ts'
import { findService } from './service-store.ts'
import type { ServicesOptions } from './services.ts'

/** Assigns the hosts and ports of a service again. Does nothing if the service does not exist. */
export const createRedeclarer =
  (declareHosts: ServicesOptions['declareHosts']) =>
  async (sql: Sql, serviceId: string): Promise<void> => {
    const service = await findService(sql, serviceId)
    if (!service) return
    const { id, kind, name, settings } = service
    await declareHosts(sql, { id, kind, name, ports: routedPorts(settings), published: publishedPort(settings) })
  }
