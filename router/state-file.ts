import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Route, RouteTable } from '@quayside/contract/routes.ts'
import { codeOf, describe, type Log } from './log.ts'
import { emptyTable, parseRouteTable } from './route-table.ts'

/**
 * Returns the last saved table. Returns an empty one if none exists, or if it cannot be read
 * (logged).
 */
export async function loadTable(path: string, log: Log): Promise<RouteTable> {
  try {
    return parseRouteTable(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') log.error('stored route table could not be read', { path, error: describe(error) })
    return emptyTable
  }
}

/** Saves a table. A power cut leaves either the old or the new one. Calls must not overlap. */
export async function saveTable(path: string, table: RouteTable): Promise<void> {
  const draft = `${path}.new`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(textOf(table))
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

/** The text of each route. A table keeps the objects of its unchanged routes. */
const texts = new WeakMap<Route, string>()

function textOf({ version, routes }: RouteTable): string {
  const parts = routes.map((route) => {
    const text = texts.get(route) ?? JSON.stringify(route)
    texts.set(route, text)
    return text
  })
  return `{"version":${version},"routes":[${parts.join()}]}`
}
