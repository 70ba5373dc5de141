import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { RouteTable } from '@quayside/contract/routes.ts'
import { limits } from './limits.ts'
import { codeOf, describe, type Log } from './log.ts'
import { emptyTable, parseRouteTable } from './route-table.ts'

/**
 * Returns the table that the control plane keeps for new pods, compressed. Returns an empty one if
 * it does not exist, or if it cannot be read (logged).
 */
export async function loadStoredTable(path: string, log: Log): Promise<RouteTable> {
  try {
    const text = await promisify(gunzip)(await readFile(path), { maxOutputLength: limits.tableBytes })
    return parseRouteTable(JSON.parse(text.toString('utf8')))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') log.error('kept route table could not be read', { path, error: describe(error) })
    return emptyTable
  }
}
