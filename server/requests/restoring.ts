import { isAtRest } from '@quayside/contract/states.ts'
import type { Sql } from '../database/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import { acceptRequest, type RequestedBy, type RequestOptions } from './request.ts'
import { findRequest, lockEnvironment } from './request-store.ts'
import { listTargets } from './target-store.ts'

/**
 * Creates the requests of a backup's restore, which holds the service meanwhile. They join the
 * caller's unit of work and throw like requests of users.
 */
export function createRestoring(options: RequestOptions) {
  const { database } = options
  const by = (restore: string): RequestedBy => ({ id: restore, name: 'restore', origin: 'QOVERY_INTERNAL', restore })
  const ask = async (service: ServiceRow, restore: string, action: 'STOP' | 'DEPLOY'): Promise<string> => {
    const environment = { id: service.environment_id, name: service.environment_name }
    const targets = [{ service, commit: undefined, sameVersion: action === 'DEPLOY' }]
    return (await acceptRequest(options, { environment, action, targets, by: by(restore) })).id
  }
  return {
    /** Locks the environment against other requests until the transaction ends. */
    hold: async (sql: Sql, { environment_id }: ServiceRow): Promise<void> =>
      void (await lockEnvironment(sql, environment_id)),
    /** Stops the service and returns the request. Undefined if it does not run. */
    async stop(service: ServiceRow, restore: string): Promise<string | undefined> {
      return service.release_id === null ? undefined : ask(service, restore, 'STOP')
    },
    /** Deploys the version that ran. */
    start: (service: ServiceRow, restore: string): Promise<string> => ask(service, restore, 'DEPLOY'),
    /** Returns the outcome of a request for a service; undefined until it has ended. */
    async outcome(requestId: string, serviceId: string): Promise<{ readonly reason: string | null } | undefined> {
      const request = await findRequest(database, requestId)
      const service = await findService(database, serviceId)
      if (request && (request.finished_at === null || (service && !isAtRest(service.state)))) return undefined
      if (request?.status === 'SUCCESS') return { reason: null }
      const targets = await listTargets(database, [requestId])
      return { reason: targets[0]?.reason ?? 'its request did not end well' }
    },
  }
}
