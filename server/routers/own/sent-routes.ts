import { placeOf, type Route, type RouteChanges } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'

/** The routes of a table by their places, as text. Callers cannot change them later. */
type SentRoutes = ReadonlyMap<string, string>

/** A table as text: its routes by their places, and its lists of people by their names. */
export interface SentTable {
  readonly routes: SentRoutes
  readonly people: ReadonlyMap<string, string>
}

interface Table {
  readonly version: number
  readonly routes: readonly Route[]
  readonly people: PeopleLists
  readonly sent: SentTable
}

/** Returns a table in the form in which two tables are compared. */
export function sentTable({ routes, people }: Pick<Table, 'routes' | 'people'>): SentTable {
  const sent = new Map<string, string>()
  for (const route of routes) sent.set(placeOf(route), JSON.stringify(route))
  return { routes: sent, people: new Map(Object.entries(people).map(([name, list]) => [name, JSON.stringify(list)])) }
}

/**
 * Returns the changes that make the next version of a table. Undefined if places are listed twice:
 * the router must see the whole table to refuse it.
 */
export function changesBetween(
  { version, sent: before }: Pick<Table, 'version' | 'sent'>,
  { routes, people, sent }: Pick<Table, 'routes' | 'people' | 'sent'>,
): RouteChanges | undefined {
  if (sent.routes.size !== routes.length) return undefined
  const put: Route[] = []
  let [at, added] = [0, 0]
  // A map keeps the order of the routes from which it was made.
  for (const [place, text] of sent.routes) {
    const route = routes[at++]
    const known = before.routes.get(place)
    if (known === undefined) added++
    if (route && known !== text) put.push(route)
  }
  // Usually none is gone, and a large table takes milliseconds.
  const isSame = before.routes.size + added === sent.routes.size
  const gone = isSame ? [] : [...before.routes.keys()].filter((place) => !sent.routes.has(place))
  const lists = peopleBetween(before, { people, sent })
  return { from: version, version: version + 1, put, gone, ...(Object.keys(lists).length > 0 && { people: lists }) }
}

function peopleBetween(before: SentTable, { people, sent }: Pick<Table, 'people' | 'sent'>) {
  const changed = Object.entries(people).filter(([name]) => before.people.get(name) !== sent.people.get(name))
  const removed = [...before.people.keys()]
    .filter((name) => !sent.people.has(name))
    .map((name) => [name, null] as const)
  return Object.fromEntries([...changed, ...removed])
}

/** Whether changes leave the table as it is. */
export const isEmptyChange = ({ put, gone, people }: RouteChanges): boolean =>
  put.length + gone.length === 0 && people === undefined
