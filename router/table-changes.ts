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
  const routes = byPlace(before)
  for (const place of gone) routes.delete(place)
  const places = new Set(put.map(placeOf))
  if (places.size !== put.length) throw new Error('put: a place is listed twice')
  for (const route of put) routes.set(placeOf(route), route)
  const table = { version, routes: [...routes.values()], ...peopleMember(changedPeople(before.people ?? {}, people)) }
  checkPorts(table.routes)
  return table
}

function changedPeople(before: PeopleLists, changes: RouteChanges['people']): PeopleLists {
  if (changes === undefined) return before
  const all = Object.entries({ ...before, ...changes })
  return Object.fromEntries(all.flatMap(([name, list]) => (list === null ? [] : [[name, list] as const])))
}

function byPlace({ routes }: RouteTable): Map<string, Route> {
  const places = new Map<string, Route>()
  for (const route of routes) places.set(placeOf(route), route)
  return places
}
