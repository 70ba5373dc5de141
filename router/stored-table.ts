import type { RouteTable } from '@quayside/contract/routes.ts'
import { type KeptDocument, readKeptDocument } from './kept-document.ts'
import { record } from './record.ts'
import { parseRouteTable } from './route-table.ts'

/**
 * Returns the table that the control plane keeps in a folder for new pods. Undefined if it keeps
 * none. Throws an Error if the table cannot be read now.
 */
export async function readStoredTable(folder: string): Promise<RouteTable | undefined> {
  const kept = await readKeptDocument(folder)
  return kept && tableIn(kept)
}

/** Each part has the routes of some hosts and some of the lists of people. */
function tableIn(kept: KeptDocument): RouteTable {
  if ('whole' in kept) return parseRouteTable(kept.whole)
  const parts = kept.parts.map((part, index) => record(part, `part ${index}`))
  const routes = parts.flatMap((part, index) => {
    if (!Array.isArray(part['routes'])) throw new Error(`part ${index} has no routes`)
    return part['routes']
  })
  const people = Object.fromEntries(
    parts.flatMap((part, index) => Object.entries(record(part['people'], `the people of part ${index}`))),
  )
  return parseRouteTable({ version: kept.version, routes, people })
}
