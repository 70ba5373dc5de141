import type { Sql } from '../database/index.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError } from '../lib/error.ts'
import { newId } from '../lib/id.ts'
import { requireRoomOfNew } from '../limits/index.ts'
import type { Vault } from '../vault/index.ts'
import { findBases, findRowsOf, findRowsOfProject } from './copy-store.ts'
import { findFacts } from './facts-store.ts'
import { countByOwner, insertRows, type NewRow } from './import-store.ts'
import { type CopiedRow, copiedBuiltIns, planCopy, renamedPrefixes, renameIn, type VariableCopy } from './plan-copy.ts'

/**
 * Copies variables and secrets of services, and of their environment if requested, in the caller's
 * transaction. The copies of the services must already exist. Secrets are sealed again. Aliases and
 * overrides refer to the copies of their bases. Built-in names with the digits of a copied service
 * are renamed to those of its copy, in keys and in texts. Throws AppError `sealed` if there are
 * secrets and the vault is sealed, `notFound` if the source or the target no longer exists.
 */
export async function copyVariables(
  sql: Sql,
  { vault, clock }: { readonly vault: Vault; readonly clock: Clock },
  copy: VariableCopy,
): Promise<void> {
  const rows = await findRowsOf(sql, [...copy.services.keys()], copy.withEnvironment ? copy.from.environmentId : null)
  if (rows.length === 0) return
  const { prefixes, builtIns } = await findNames(sql, copy)
  const bases = await findBases(
    sql,
    rows.flatMap(({ base_id }) => base_id ?? []),
  )
  const environmentId = copy.withEnvironment ? null : copy.to.environmentId
  const around = [...(await findRowsOfProject(sql, copy.to.projectId)), ...(await findRowsOf(sql, [], environmentId))]
  const planned = planCopy(copy, { rows, bases, around, prefixes, builtIns, newId })
  const rename = (text: string): string => renameIn(text, prefixes)
  const most = Math.max(0, ...countByOwner(planned.map(({ row }) => row)).map(([, count]) => count))
  await requireRoomOfNew(sql, 'variables', most)
  await insertRows(sql, await withTexts(sql, vault, copy, planned, rename), clock.now())
}

/**
 * Loads the facts and returns a pure function that renames built-in names in a text. The copies of
 * the services must already exist.
 */
export async function findRename(sql: Sql, copy: VariableCopy): Promise<(text: string) => string> {
  const { prefixes } = await findNames(sql, copy)
  return (text) => renameIn(text, prefixes)
}

async function findNames(sql: Sql, copy: VariableCopy) {
  const factsOf = async ({ projectId, environmentId }: VariableCopy['from']) => {
    const facts = await findFacts(sql, { projectId, environmentId, serviceId: null })
    if (!facts?.environment) throw new AppError('notFound', 'the environment no longer exists')
    return { ...facts, environment: facts.environment }
  }
  const from = await factsOf(copy.from)
  const to = await factsOf(copy.to)
  const prefixes = renamedPrefixes(from.environment.services, to.environment.services, copy.services)
  return { prefixes, builtIns: copiedBuiltIns(from, copy, prefixes) }
}

/** Returns the rows with their texts: renamed, and secrets sealed for their new cells. */
async function withTexts(
  sql: Sql,
  vault: Vault,
  { from, to }: VariableCopy,
  planned: readonly CopiedRow[],
  rename: (text: string) => string,
): Promise<NewRow[]> {
  const cellOf = ({ id }: NewRow) => ({ table: 'variable', row: id, column: 'sealed_value' })
  const texts: { readonly cell: ReturnType<typeof cellOf>; readonly text: string }[] = []
  for (const { row, textOf } of planned) {
    if (textOf.sealed_value === null) continue
    const secret = await vault.open(sql, from.organizationId, cellOf(textOf), textOf.sealed_value)
    texts.push({ cell: cellOf(row), text: rename(secret.reveal()) })
  }
  const sealed = await vault.sealAll(sql, to.organizationId, texts)
  const byRow = new Map(texts.map(({ cell }, index) => [cell.row, sealed[index] ?? null]))
  return planned.map(({ row }) => ({
    ...row,
    value: row.value === null ? null : rename(row.value),
    sealed_value: byRow.get(row.id) ?? null,
  }))
}
