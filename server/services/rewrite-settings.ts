import type { Sql } from '../database/index.ts'
import { listSettings, writeSettings } from './service-store.ts'

/**
 * Renames strings anywhere in settings. `rename` works on JSON text and must not change its syntax.
 */
export async function rewriteSettings(
  sql: Sql,
  ids: readonly string[],
  rename: (text: string) => string,
): Promise<void> {
  for (const { id, settings } of await listSettings(sql, ids)) {
    const renamed = rename(settings)
    if (renamed !== settings) await writeSettings(sql, id, renamed)
  }
}
