import type { Database } from '../database/index.ts'
import { keptImages } from '../disk/index.ts'
import { AppError } from '../lib/error.ts'
import { buildOf, findRelease, type ReleaseRow } from '../releases/index.ts'
import type { ServiceRow } from '../services/index.ts'
import { type FormerRow, findFormer } from './former-store.ts'
import { startsSomething } from './restriction.ts'

/**
 * Returns the release that an execution started for a service. Throws 400 if the service was not
 * part of it, 409 if it started no version, and 404 if the version is no longer kept.
 */
export async function findFormerRelease(
  database: Database,
  service: ServiceRow,
  executionId: string,
): Promise<ReleaseRow> {
  const former = await findFormer(database, service.id, executionId)
  if (!former) {
    throw new AppError('invalid', `execution_id: "${service.name}" was not part of an execution with that id.`)
  }
  const reason = nothingBrought(former)
  if (reason) throw new AppError('conflict', `Execution ${executionId} ${reason}; choose one that did.`)
  const release = former.is_kept && former.release_id ? await findRelease(database, former.release_id) : undefined
  if (release && (await isImageKept(database, release))) return release
  throw new AppError(
    'notFound',
    'execution_id: the version of that execution is no longer kept. Only the newest versions and their images ' +
      'are kept. Deploy its commit or tag instead.',
  )
}

/** Whether the image still exists. A built image cannot be pulled again; one of a registry can. */
async function isImageKept(database: Database, release: ReleaseRow): Promise<boolean> {
  if (!buildOf(release)) return true
  const kept = await keptImages(database, release.service_id)
  return kept.includes(release.image?.reference ?? '')
}

function nothingBrought({ action, status }: FormerRow): string | undefined {
  if (!startsSomething(action)) return `was a ${action}, which started no version`
  return status === 'SUCCESS' ? undefined : `brought up no version (${status})`
}

/** Returns the note in the reply to a rollback. */
export const rollbackNote = ({ created_at }: ReleaseRow): string =>
  `The settings of the service are now those of the version of ${created_at.toISOString()}. Its ` +
  'variables and secrets are not changed: the started version has those of that time, and the next ' +
  'deployment uses the current ones.'
