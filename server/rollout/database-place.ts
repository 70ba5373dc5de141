import type { Sql } from '../database/index.ts'
import { releasePublicPort, reservePublicPort } from '../domains/index.ts'
import { EngineError } from '../engines/index.ts'
import { isPublished, type ReleaseRow, setReleasePort, type Versioned } from '../releases/index.ts'
import { findService, setDataVersion, versionRefusal } from '../services/index.ts'
import type { Recipe, Work } from './recipe.ts'

/**
 * What a database has on this machine beside its container: data of a version, and a port while it
 * is public.
 */

/**
 * Throws EngineError('refused') where the data of a database was written by a version that this one
 * cannot follow.
 */
export async function checkData({ database }: Recipe, release: ReleaseRow): Promise<void> {
  if (release.kind !== 'database') return
  const service = await findService(database, release.service_id)
  const refusal = service && dataRefusal(release, { name: service.name, from: service.data_version })
  if (refusal) throw new EngineError('refused', refusal)
}

/**
 * Why a version of a database cannot have data that another one, `from`, has written; undefined
 * where it can, and where there are none.
 */
export function dataRefusal(
  { kind, settings }: Versioned,
  { name, from }: { readonly name: string; readonly from: string | null },
): string | undefined {
  if (kind !== 'database' || from === null) return undefined
  return versionRefusal(settings.type, { from, to: settings.version, name })
}

/** From now on the data is of this version. */
export async function markData({ context }: Work, release: ReleaseRow): Promise<void> {
  if (release.kind !== 'database') return
  await context.fenced((sql) => setDataVersion(sql, release.service_id, release.settings.version))
}

/**
 * A public one has its port of this machine, and the release says which: it is started with that
 * for good. Throws 409 when none is left.
 */
export async function takePublicPort(
  { publicPorts }: Recipe,
  { context }: Work,
  release: ReleaseRow,
): Promise<ReleaseRow> {
  if (release.kind !== 'database' || !isPublished(release)) return release
  const { service_id: id, kind } = release
  return context.fenced(async (sql) => {
    const { port } = await reservePublicPort(sql, { id, host: publicPorts.hostOf({ id, kind }) }, publicPorts)
    if (port !== release.public_port) await setReleasePort(sql, release.id, port)
    return { ...release, public_port: port }
  })
}

/** Once a private release has taken over, the port is free for others. */
export async function leavePublicPort(sql: Sql, release: ReleaseRow): Promise<void> {
  if (release.kind === 'database' && !isPublished(release)) await releasePublicPort(sql, release.service_id)
}
