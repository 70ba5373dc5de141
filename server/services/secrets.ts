import type { Sql } from '../database/index.ts'
import type { Secret } from '../lib/secret.ts'
import { keepServiceSecrets, listServiceSecrets, putServiceSecret } from './secret-store.ts'

/** Seals and opens strings for one cell of the database. */
export interface Sealer {
  seal(sql: Sql, organizationId: string, cell: Cell, text: string): Promise<string>
  open(sql: Sql, organizationId: string, cell: Cell, sealed: string): Promise<Secret>
}
interface Cell {
  readonly table: string
  readonly row: string
  readonly column: string
}

const cellOf = (serviceId: string, name: string): Cell => ({
  table: 'service_secret',
  row: `${serviceId} ${name}`,
  column: 'sealed_value',
})

export interface Owner {
  readonly id: string
  readonly organizationId: string
}

/** Replaces the secrets of a service by the named ones; undefined keeps the stored value. */
export async function writeSecrets(
  sql: Sql,
  vault: Sealer,
  owner: Owner,
  secrets: Readonly<Record<string, string | undefined>>,
  now: Date,
): Promise<void> {
  await keepServiceSecrets(sql, owner.id, Object.keys(secrets))
  for (const [name, text] of Object.entries(secrets)) {
    if (text !== undefined) await writeSecret(sql, vault, owner, { name, text, now })
  }
}

export async function writeSecret(
  sql: Sql,
  vault: Sealer,
  { id, organizationId }: Owner,
  { name, text, now }: { readonly name: string; readonly text: string; readonly now: Date },
): Promise<void> {
  const sealed_value = await vault.seal(sql, organizationId, cellOf(id, name), text)
  await putServiceSecret(sql, id, { name, sealed_value }, now)
}

/** Returns the secrets of a service by name. */
export async function openSecrets(
  sql: Sql,
  vault: Pick<Sealer, 'open'>,
  { id, organizationId }: Owner,
): Promise<ReadonlyMap<string, Secret>> {
  const rows = await listServiceSecrets(sql, id)
  const opened = rows.map(
    async ({ name, sealed_value }) =>
      [name, await vault.open(sql, organizationId, cellOf(id, name), sealed_value)] as const,
  )
  return new Map(await Promise.all(opened))
}
