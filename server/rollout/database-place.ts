import type { Sql } from '../database/index.ts'
import { releasePublicPort, reservePublicPort } from '../domains/index.ts'
import { EngineError } from '../engines/index.ts'
import { isPublished, type ReleaseRow, setReleasePort, type Versioned } from '../releases/index.ts'
import { findService, setDataVersion, versionRefusal } from '../services/index.ts'
import type { Recipe, Work } from './recipe.ts'

/**
 * What a database has on this machine besides its container: the version of its data, and a port if
 * it is public.
 */

/**
 * Throws EngineError('refused') if another version wrote the data and this version cannot read it.
 */
export async function checkData({ database }: Recipe, release: ReleaseRow): Promise<void> {
  if (release.kind !== 'database') return
  const service = await findService(database, release.service_id)
  const refusal = service && dataRefusal(release, { name: service.name, from: service.data_version })
  if (refusal) throw new EngineError('refused', refusal)
}

/**
 * Returns why a database version cannot use the data of version `from`. Undefined if it can, or if
 * there are no data.
 */
export function dataRefusal(
  { kind, settings }: Versioned,
  { name, from }: { readonly name: string; readonly from: string | null },
): string | undefined {
  if (kind !== 'database' || from === null) return undefined
  return versionRefusal(settings.type, { from, to: settings.version, name })
}

/** Records that the data now belong to this version. */
export async function markData({ context }: Work, release: ReleaseRow): Promise<void> {
  if (release.kind !== 'database') return
  await context.fenced((sql) => setDataVersion(sql, release.service_id, release.settings.version))
}

/**
 * Gives a public database a port of this machine and records it in the release, so every later
 * start uses the same port. If the engine publishes no ports, the router opens the port, and the
 * release has none. Throws 409 when no port is left.
 */
export async function takePublicPort(
  { publicPorts, engine, declareHosts }: Recipe,
  { context }: Work,
  release: ReleaseRow,
): Promise<ReleaseRow> {
  if (release.kind !== 'database' || !isPublished(release)) return release
  const { service_id: id, kind } = release
  if (!engine.capabilities.publishesPorts) {
    // The cluster may have had no engine when the port was assigned.
    await context.fenced((sql) => declareHosts(sql, id))
    return release
  }
  return context.fenced(async (sql) => {
    const { port } = await reservePublicPort(sql, { id, host: publicPorts.hostOf({ id, kind }) }, publicPorts)
    if (port !== release.public_port) await setReleasePort(sql, release.id, port)
    return { ...release, public_port: port }
  })
}

/** Frees the port once a private release has taken over. */
export async function leavePublicPort(sql: Sql, release: ReleaseRow): Promise<void> {
  if (release.kind === 'database' && !isPublished(release)) await releasePublicPort(sql, release.service_id)
}
