import type { Database } from '../database/index.ts'
import { type CopyRow, listCopies } from './copy-record-store.ts'

const shown = 100

/**
 * Returns pending, finished and failed copies, newest first: of the last hundred, those that
 * `isVisible` accepts.
 */
export async function copiesOf(
  database: Database,
  organizationId: string,
  isVisible: (copy: Pick<CopyRow, 'project_id' | 'mode'>) => boolean,
): Promise<Omit<CopyRow, 'mode'>[]> {
  const rows = await listCopies(database, organizationId, shown)
  return rows.filter(isVisible).map(({ mode: _, ...copy }) => copy)
}
