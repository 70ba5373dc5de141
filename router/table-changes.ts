import { isDeepStrictEqual } from 'node:util'
import { placeOf, type Route, type RouteChanges, type RouteTable } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'
import { checkPorts } from './route-table.ts'

/**
 * Returns a table whose unchanged routes and lists are the objects of the previous one. So
 * everything that was computed for them is kept.
 */
export function keepUnchanged(before: RouteTable, after: RouteTable): RouteTable {
  const known = byPlace(before)
  const routes = after.routes.map((route) => {
    const last = known.get(placeOf(route))
    return last && isDeepStrictEqual(last, route) ? last : route
  })
  return { version: after.version, routes, ...peopleMember(keptPeople(before.people ?? {}, after.people ?? {})) }
}

const keptPeople = (before: PeopleLists, after: PeopleLists): PeopleLists =>
  Object.fromEntries(
    Object.entries(after).map(([name, list]) => {
      const last = before[name]
      return [name, last && isDeepStrictEqual(last, list) ? last : list]
    }),
  )

const peopleMember = (people: PeopleLists): Pick<RouteTable, 'people'> =>
  Object.keys(people).length === 0 ? {} : { people }

/**
 * Returns whether two tables have the same routes and lists in any order. One must come from
 * `keepUnchanged` with the other.
 */
export function hasSameRoutes(one: RouteTable, other: RouteTable): boolean {
  if (one.routes.length !== other.routes.length) return false
  const known = new Set(one.routes)
  return other.routes.every((route) => known.has(route)) && hasSamePeople(one.people ?? {}, other.people ?? {})
}

const hasSamePeople = (one: PeopleLists, other: PeopleLists): boolean =>
  Object.keys(one).length === Object.keys(other).length &&
  Object.entries(other).every(([name, list]) => one[name] === list)

/** Applies changes to a table. Throws an Error if two routes then share a place or a port. */
export function changedTable(before: RouteTable, { version, put, gone, people }: RouteChanges): RouteTable {
  const next = byPlace({ routes: put })
  if (next.size !== put.length) throw new Error('put: a place is listed twice')
  const routes = [...unchangedOrNext(before, next, gone), ...next.values()]
  const table = { version, routes, ...peopleMember(changedPeople(before.people ?? {}, people)) }
  checkPorts(table.routes)
  return table
}

/** Returns changes that do what these do one after the other. Each continues the previous one. */
export function joinedChanges(all: readonly RouteChanges[]): Pick<RouteChanges, 'put' | 'gone' | 'people'> {
  const put = new Map<string, Route>()
  for (const one of all) {
    for (const place of one.gone) put.delete(place)
    for (const route of one.put) put.set(placeOf(route), route)
  }
  const people = new Map(all.flatMap((one) => Object.entries(one.people ?? {})))
  return {
    put: [...put.values()],
    gone: all.flatMap(({ gone }) => gone),
    ...(people.size > 0 && { people: Object.fromEntries(people) }),
  }
}

/** Returns the routes of a table with their replacements, which it removes from `next`. */
function unchangedOrNext(before: RouteTable, next: Map<string, Route>, gone: readonly string[]): Route[] {
  const removed = new Set(gone)
  // A place is a new text of a host and a path. So it is made for the hosts of changes only.
  const hosts = new Set([...next.values()].map(({ host }) => host))
  for (const place of gone) hosts.add(place.split('/', 1)[0] ?? '')
  return before.routes.flatMap((route) => {
    if (!hosts.has(route.host)) return route
    const place = placeOf(route)
    const replacement = next.get(place)
    next.delete(place)
    return replacement ?? (removed.has(place) ? [] : route)
  })
}

function changedPeople(before: PeopleLists, changes: RouteChanges['people']): PeopleLists {
  if (changes === undefined) return before
  const all = Object.entries({ ...before, ...changes })
  return Object.fromEntries(all.flatMap(([name, list]) => (list === null ? [] : [[name, list] as const])))
}

function byPlace({ routes }: Pick<RouteTable, 'routes'>): Map<string, Route> {
  const places = new Map<string, Route>()
  for (const route of routes) places.set(placeOf(route), route)
  return places
}
