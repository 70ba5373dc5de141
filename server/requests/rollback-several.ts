import { AppError, notFound } from '../lib/error.ts'
import type { ServiceRow } from '../services/index.ts'
import type { DeploymentsOptions } from './deployments.ts'
import { refuseKind } from './refusal-of-kind.ts'
import { findFormerRelease } from './rollback.ts'
import type { WantedTarget } from './target-store.ts'

/** A service, and the execution to whose version it rolls back. */
export interface RolledBack {
  readonly id: string
  readonly execution_id: string
}

/**
 * Returns the targets of one request that rolls back several services, and restores their settings.
 * If a service is named twice, the last entry counts. Throws for the first service that cannot be
 * rolled back, with its place in the body. The caller's transaction then undoes the others.
 */
export async function rollbackTargets(
  options: DeploymentsOptions,
  services: readonly ServiceRow[],
  wanted: readonly RolledBack[],
): Promise<WantedTarget[]> {
  if (wanted.length === 0) throw new AppError('invalid', 'services: name at least one service.')
  const byId = new Map(services.map((service) => [service.id, service]))
  const targets = new Map<string, WantedTarget>()
  for (const [index, { id, execution_id: executionId }] of wanted.entries()) {
    const field = `services[${index}]`
    const service = byId.get(id.toLowerCase())
    if (!service) {
      throw notFound('service', id, { field: `${field}.id`, advice: 'Name services of this environment.' })
    }
    targets.set(service.id, await placed(field, () => toTarget(options, service, executionId)))
  }
  return [...targets.values()]
}

async function toTarget(options: DeploymentsOptions, service: ServiceRow, executionId: string): Promise<WantedTarget> {
  refuseKind(options, service)
  const release = await findFormerRelease(options.database, service, executionId)
  return { service: await options.restoreSettings(service, release), commit: undefined, release: release.id }
}

/** Adds the place in the body to the reason of a refusal. */
async function placed<T>(field: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause
    const isOfField = cause.message.startsWith('execution_id')
    throw new AppError(cause.code, `${field}${isOfField ? '.' : ': '}${cause.message}`, { cause })
  }
}
