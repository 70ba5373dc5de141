import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RouteTable } from '@quayside/contract/routes.ts'
import { codeOf, describe, type Log } from './log.ts'
import { emptyTable, parseRouteTable } from './route-table.ts'

/** The table that was saved last; the empty one where there is none or it cannot be read (which is logged). */
export async function loadTable(path: string, log: Log): Promise<RouteTable> {
  try {
    return parseRouteTable(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') log.error('kept route table could not be read', { path, error: describe(error) })
    return emptyTable
  }
}

/** Saves a table so that either the old or the new one is found after a power cut. Not to be called twice at once. */
export async function saveTable(path: string, table: RouteTable): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(table))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
  const directory = await open(dirname(path), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
