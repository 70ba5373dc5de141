import type { Database } from '../database/index.ts'
import { AppError } from '../lib/error.ts'
import { changedNames, changesOf, contentOfRelease, findRelease, type ReleaseRow } from '../releases/index.ts'
import type { ServiceRow } from '../services/index.ts'
import type { Vault } from '../vault/index.ts'
import { type ComparedRow, listCompared } from './compared-store.ts'
import { toCommit } from './history.ts'

/** Longer values of settings are compared, but not shown. */
const longestValue = 200

/** An execution with the release that it started. */
interface Version {
  readonly row: ComparedRow
  readonly release: ReleaseRow
}

/**
 * Compares the versions that two executions started for a service. Throws 400 if the service was
 * not part of one of them, and 409 if one of them started no version.
 */
export async function compareDeployments(
  options: { readonly database: Database; readonly vault: Vault },
  service: ServiceRow,
  { from, to }: { readonly from: string; readonly to: string },
) {
  const rows = await listCompared(options.database, service.id, [from, to])
  const [before, after] = await Promise.all([
    findVersion(options.database, service, { rows, name: 'from', id: from }),
    findVersion(options.database, service, { rows, name: 'to', id: to }),
  ])
  return {
    from: versionOf(before),
    to: versionOf(after),
    changed_settings: changedSettings(settingsOf(before.release), settingsOf(after.release)),
    changed_variables:
      before.row.is_kept && after.row.is_kept ? await changedVariables(options, service, before, after) : null,
  }
}

async function findVersion(
  database: Database,
  service: ServiceRow,
  { rows, name, id }: { readonly rows: readonly ComparedRow[]; readonly name: string; readonly id: string },
): Promise<Version> {
  const row = rows.find(({ execution_id }) => execution_id === id)
  if (!row) throw new AppError('invalid', `${name}: "${service.name}" was not part of an execution with that id.`)
  const release = row.release_id ? await findRelease(database, row.release_id) : undefined
  if (release) return { row, release }
  throw new AppError('conflict', `${name}: execution ${id} was a ${row.action} that started no version.`)
}

const versionOf = ({ row, release }: Version) => ({
  execution_id: row.execution_id,
  created_at: row.created_at,
  commit: release.commit && toCommit(release.commit, release),
  image: release.image && (release.image.digest || release.image.reference),
  is_kept: row.is_kept === true,
})

const settingsOf = ({ settings, advanced_settings }: ReleaseRow): object => ({ ...settings, ...advanced_settings })

/** Pure: the settings that differ, with the values that are short. */
export const changedSettings = (before: object, after: object) =>
  changedNames(before, after).map((name) => ({
    name,
    from: valueAt(before, name),
    to: valueAt(after, name),
  }))

/** Names of advanced settings contain dots, so the longest name that is a member counts. */
function valueAt(settings: object, name: string): string | null {
  const members = new Map<string, unknown>(Object.entries(settings))
  if (members.has(name)) return shortText(members.get(name))
  for (let dot = name.lastIndexOf('.'); dot > 0; dot = name.lastIndexOf('.', dot - 1)) {
    const inner = members.get(name.slice(0, dot))
    if (typeof inner === 'object' && inner !== null) return valueAt(inner, name.slice(dot + 1))
  }
  return null
}

function shortText(value: unknown): string | null {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') return null
  const text = String(value)
  return text.length > longestValue ? null : text
}

/** Lists the names of variables, secrets and files that differ. Their values stay sealed. */
async function changedVariables(
  options: { readonly database: Database; readonly vault: Vault },
  service: ServiceRow,
  before: Version,
  after: Version,
): Promise<string[]> {
  const reader = { ...options, publicPorts: { address: '' }, layerGiB: 0 }
  const [old, young] = [
    await contentOfRelease(reader, service, before.release),
    await contentOfRelease(reader, service, after.release),
  ]
  return changesOf(old, young).flatMap((change) => /^(?:variable|file) (.*)$/s.exec(change)?.[1] ?? [])
}
