import { BuildError } from '../builders/index.ts'
import type { Sql } from '../database/index.ts'
import {
  changesOf,
  contentOfRelease,
  copyRelease,
  findRelease,
  findReleaseOf,
  presentContent,
  type ReleaseContent,
  type ReleaseReader,
  type ReleaseRow,
} from '../releases/index.ts'
import { type RefusalOptions, setTargetCommit } from '../requests/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import type { Recipe, Work } from './recipe.ts'

/** Copies the release that has the traffic, under a new id, for a restart. */
export const repeatRelease = (options: Recipe, work: Work): Promise<string> =>
  copyOnce(options, work, async (sql, service) => {
    const release = service?.release_id ? await findRelease(sql, service.release_id) : undefined
    if (!release) throw new BuildError('failed', 'No version can be restarted. Deploy the service first.')
    return { release }
  })

/**
 * Copies the settings, variables, secrets and image of a previous release, under a new id, for a
 * rollback.
 */
export function formerRelease(options: Recipe, work: Work, id: string): Promise<string> {
  work.report.enter('Deploy')
  return copyOnce(options, work, async (sql, service) => {
    const release = await findRelease(sql, id)
    if (!service || !release?.image) {
      throw new BuildError('failed', 'The version to roll back to is no longer kept. Deploy the service instead.')
    }
    work.report.line(noteOf(release))
    // A service is up to date if a deployment now would change nothing.
    const isPresent = (await differences({ ...options, database: sql }, service, release)).length === 0
    return { release, ...(isPresent && { configVersion: service.config_version }) }
  })
}

const noteOf = ({ created_at, commit, image }: ReleaseRow): string =>
  'Rolling back to the version of ' +
  `${created_at.toISOString()}${commit ? `, commit ${commit.id.slice(0, 12)}` : ''}, with the settings, ` +
  `variables and secrets of that time: image ${image?.digest || image?.reference}.`

/** Lists what a deployment now would change of a release, except image and commit. */
export const differences = async (...of: Parameters<typeof contentsOf>): Promise<string[]> =>
  changesOf(...(await contentsOf(...of)))

/** Returns the content of a release, and the content that a deployment now would have. */
export async function contentsOf(
  { database, vault, capabilitiesOf }: Pick<ReleaseReader, 'database' | 'vault'> & RefusalOptions,
  service: ServiceRow,
  release: ReleaseRow,
): Promise<readonly [ReleaseContent, ReleaseContent]> {
  // The address is the same for both, so its value does not matter.
  const isOfEngine = capabilitiesOf({ engine: service.cluster_engine })?.publishesPorts === true
  const reader = { database, vault, publicPorts: isOfEngine ? { address: '' } : undefined, layerGiB: 0 }
  return [await contentOfRelease(reader, service, release), await presentContent(reader, service, release)]
}

/** Copies once: a retry finds the copy of the first try. */
export function copyOnce(
  options: Recipe,
  { request, target, step, context, organizationId }: Work,
  choose: (sql: Sql, service: ServiceRow | undefined) => Promise<Pick<Copied, 'release' | 'configVersion'>>,
): Promise<string> {
  return step(`${target.service_id}/FREEZE`, () =>
    context.fenced(async (sql) => {
      const former = await findReleaseOf(sql, target.service_id, request.id)
      if (former) return former.id
      const { release, configVersion } = await choose(sql, await findService(sql, target.service_id))
      if (release.commit) await setTargetCommit(sql, target, release.commit)
      const copied = { id: request.id, now: options.clock.now(), ...(configVersion !== undefined && { configVersion }) }
      return (await copyRelease(sql, options.vault, organizationId, release, copied)).id
    }),
  )
}

interface Copied {
  readonly release: ReleaseRow
  readonly configVersion?: number
}
