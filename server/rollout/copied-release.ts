import { BuildError } from '../builders/index.ts'
import type { Sql } from '../database/index.ts'
import {
  changesOf,
  contentOfRelease,
  copyRelease,
  findRelease,
  findReleaseOf,
  presentContent,
  type ReleaseReader,
  type ReleaseRow,
} from '../releases/index.ts'
import { setTargetCommit } from '../requests/index.ts'
import { findService, type ServiceRow } from '../services/index.ts'
import type { Recipe, Work } from './recipe.ts'

/** A restart runs the same version anew: the release that has the traffic now, under a new id. */
export const repeatRelease = (options: Recipe, work: Work): Promise<string> =>
  copyOnce(options, work, async (sql, service) => {
    const release = service?.release_id ? await findRelease(sql, service.release_id) : undefined
    if (!release) throw new BuildError('failed', 'There is no version that could be restarted; deploy it first.')
    return { release }
  })

/** A rollback runs a former version: its settings, variables, secrets and image, under a new id. */
export function formerRelease(options: Recipe, work: Work, id: string): Promise<string> {
  work.report.enter('Deploy')
  return copyOnce(options, work, async (sql, service) => {
    const release = await findRelease(sql, id)
    if (!service || !release?.image) {
      throw new BuildError('failed', 'The version to go back to is no longer kept; deploy the service instead.')
    }
    work.report.line(noteOf(release))
    // Up to date is what a deployment of this moment would not change.
    const isPresent = (await differences({ vault: options.vault, database: sql }, service, release)).length === 0
    return { release, ...(isPresent && { configVersion: service.config_version }) }
  })
}

const noteOf = ({ created_at, commit, image }: ReleaseRow): string =>
  'Going back to the version of ' +
  `${created_at.toISOString()}${commit ? `, commit ${commit.id.slice(0, 12)}` : ''}, with the settings, ` +
  `variables and secrets of that time: image ${image?.digest || image?.reference}.`

/**
 * What a deployment of the service would change at this moment of what a release brings, its image
 * and commit apart.
 */
export async function differences(
  { database, vault }: Pick<ReleaseReader, 'database' | 'vault'>,
  service: ServiceRow,
  release: ReleaseRow,
): Promise<string[]> {
  // The same for both, wherever that is.
  const reader = { database, vault, publicPorts: { address: '' }, layerGiB: 0 }
  return changesOf(await contentOfRelease(reader, service, release), await presentContent(reader, service, release))
}

/** Copies once: a second try finds the copy of the first. */
function copyOnce(
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
