import type { Database } from '../database/index.ts'
import { keptImages } from '../disk/index.ts'
import { AppError } from '../lib/error.ts'
import { buildOf, findRelease, type ReleaseRow } from '../releases/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { type FormerRow, findFormer } from './former-store.ts'
import { startsSomething } from './restriction.ts'

/**
 * The release that an execution started of a service. 400 where it was no deployment of it, 409
 * where it brought up nothing, 404 where what it brought is no longer kept.
 */
export async function findFormerRelease(
  database: Database,
  service: ServiceRow,
  executionId: string,
): Promise<ReleaseRow> {
  const former = await findFormer(database, service.id, executionId)
  if (!former) {
    throw new AppError('invalid', `execution_id: "${service.name}" was not part of an execution of that id.`)
  }
  const reason = nothingBrought(former)
  if (reason) throw new AppError('conflict', `Execution ${executionId} ${reason}; choose one that did.`)
  const release = former.is_kept && former.release_id ? await findRelease(database, former.release_id) : undefined
  if (release && (await isImageKept(database, release))) return release
  throw new AppError(
    'notFound',
    'execution_id: the version of that execution is no longer kept. Versions and their images are kept by ' +
      'count, the newest ones; deploy its commit or tag instead.',
  )
}

/** What was built here cannot be had again; the image of a registry can. */
async function isImageKept(database: Database, release: ReleaseRow): Promise<boolean> {
  if (!buildOf(release)) return true
  const kept = await keptImages(database, release.service_id)
  return kept.includes(release.image?.reference ?? '')
}

function nothingBrought({ action, status }: FormerRow): string | undefined {
  if (!startsSomething(action)) return `was a ${action}, which started no version`
  return status === 'SUCCESS' ? undefined : `brought up no version (${status})`
}

/** What users of a rollback are told at once. */
export const rollbackNote = ({ created_at }: ReleaseRow): string =>
  `The settings of the service are those of the version of ${created_at.toISOString()} from now on. Its ` +
  'variables and secrets are not changed: the version that is started has those of that time, and the next ' +
  'deployment brings those of today.'
