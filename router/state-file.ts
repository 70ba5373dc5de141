import { open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RouteTable } from '@quayside/contract/routes.ts'
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

/** The text of each route and list. A table keeps the objects of unchanged ones. */
const texts = new WeakMap<object, string>()

function printed(part: object): string {
  const text = texts.get(part) ?? JSON.stringify(part)
  texts.set(part, text)
  return text
}

function textOf({ version, routes, people = {} }: RouteTable): string {
  const lists = Object.entries(people).map(([name, list]) => `${JSON.stringify(name)}:${printed(list)}`)
  const more = lists.length === 0 ? '' : `,"people":{${lists.join()}}`
  return `{"version":${version},"routes":[${routes.map(printed).join()}]${more}}`
}
