import type { Sql } from '../database/index.ts'
import { listSettings, writeSettings } from './service-store.ts'

/**
 * Changes names inside of settings, wherever they stand. `rename` must leave what JSON itself
 * consists of as it is.
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
