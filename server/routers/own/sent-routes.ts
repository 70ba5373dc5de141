import { isDeepStrictEqual } from 'node:util'
import { placeOf, type Route, type RouteChanges } from '@quayside/contract/routes.ts'
import type { PeopleLists } from '@quayside/contract/sign-in.ts'

/** Routes and the lists to which they refer. Nobody changes its objects later. */
interface Sent {
  readonly routes: readonly Route[]
  readonly people: PeopleLists
}

/**
 * Returns the changes that make the next version of a table. Undefined if places are listed twice:
 * the router must see the whole table to refuse it. `before` has each place once.
 */
export function changesBetween(before: Sent & { readonly version: number }, after: Sent): RouteChanges | undefined {
  const routes = changedRoutes(before.routes, after.routes)
  if (!routes) return undefined
  const people = changedPeople(before.people, after.people)
  const { version } = before
  return { from: version, version: version + 1, ...routes, ...(Object.keys(people).length > 0 && { people }) }
}

/** Whether changes leave the table as it is. */
export const isEmptyChange = ({ put, gone, people }: RouteChanges): boolean =>
  put.length + gone.length === 0 && people === undefined

type ChangedRoutes = Pick<RouteChanges, 'put' | 'gone'>

function changedRoutes(before: readonly Route[], after: readonly Route[]): ChangedRoutes | undefined {
  // Usually the places are the same, and to look ten thousand of them up takes milliseconds.
  if (hasSamePlaces(before, after)) {
    return { put: after.filter((route, at) => !isDeepStrictEqual(route, before[at])), gone: [] }
  }
  const [known, next] = [byPlace(before), byPlace(after)]
  if (next.size !== after.length) return undefined
  return {
    put: after.filter((route) => !isDeepStrictEqual(route, known.get(placeOf(route)))),
    gone: [...known.keys()].filter((place) => !next.has(place)),
  }
}

const hasSamePlaces = (before: readonly Route[], after: readonly Route[]): boolean =>
  before.length === after.length &&
  after.every(({ host, path }, at) => host === before[at]?.host && path === before[at]?.path)

const byPlace = (routes: readonly Route[]): ReadonlyMap<string, Route> =>
  new Map(routes.map((route) => [placeOf(route), route]))

function changedPeople(before: PeopleLists, after: PeopleLists): NonNullable<RouteChanges['people']> {
  const changed = Object.entries(after).filter(([name, list]) => !isDeepStrictEqual(list, before[name]))
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(after, name))
  return Object.fromEntries([...changed, ...removed.map((name) => [name, null] as const)])
}
