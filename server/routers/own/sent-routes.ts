import { placeOf, type Route, type RouteChanges } from '@quayside/contract/routes.ts'

/** The routes of a table by their places, as text. Callers cannot change them later. */
export type SentRoutes = ReadonlyMap<string, string>

interface Table {
  readonly version: number
  readonly routes: readonly Route[]
  readonly sent: SentRoutes
}

/** Returns the routes of a table in the form in which two tables are compared. */
export function sentRoutes(routes: readonly Route[]): SentRoutes {
  const sent = new Map<string, string>()
  for (const route of routes) sent.set(placeOf(route), JSON.stringify(route))
  return sent
}

/**
 * Returns the changes that make the next version of a table. Undefined if places are listed twice:
 * the router must see the whole table to refuse it.
 */
export function changesBetween(
  { version, sent: before }: Pick<Table, 'version' | 'sent'>,
  { routes, sent }: Pick<Table, 'routes' | 'sent'>,
): RouteChanges | undefined {
  if (sent.size !== routes.length) return undefined
  const put: Route[] = []
  let at = 0
  // A map keeps the order of the routes from which it was made.
  for (const [place, text] of sent) {
    const route = routes[at++]
    if (route && before.get(place) !== text) put.push(route)
  }
  const gone = [...before.keys()].filter((place) => !sent.has(place))
  return { from: version, version: version + 1, put, gone }
}
