import { keptPartCount } from '@quayside/contract/kept-parts.ts'
import type { Route, RouteTable, TlsCertificate } from '@quayside/contract/routes.ts'

/** A document as texts. */
export interface KeptContent {
  readonly version: number
  readonly whole: () => string
  /** Returns the text of each part. */
  readonly parts: () => readonly string[]
}

/** Returns the number of the part in which a name is. It is the same in all versions. Pure. */
export function partOf(name: string, count = keptPartCount): number {
  let hash = 0x811c9dc5
  for (const character of name) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0
  return hash % count
}

/** Returns a table in parts. All routes of a host are in one part, in their order. Pure. */
export function tableContent(table: RouteTable): KeptContent {
  const { version, routes, people = {} } = table
  return {
    version,
    whole: () => JSON.stringify(table),
    parts: () => {
      const parts = Array.from({ length: keptPartCount }, () => ({
        routes: [] as Route[],
        people: {} as Record<string, (typeof people)[string]>,
      }))
      for (const route of routes) parts[partOf(route.host)]?.routes.push(route)
      for (const [name, list] of Object.entries(people))
        Object.assign(parts[partOf(name)]?.people ?? {}, { [name]: list })
      return parts.map((part) => JSON.stringify(part))
    },
  }
}

/** Returns certificates in parts. Pure. */
export const certificateContent = (certificates: readonly TlsCertificate[]): KeptContent => ({
  version: 1,
  whole: () => JSON.stringify({ certificates }),
  parts: () => {
    const byPart = Map.groupBy(certificates, ({ host }) => partOf(host))
    return Array.from({ length: keptPartCount }, (_, index) =>
      JSON.stringify({ certificates: byPart.get(index) ?? [] }),
    )
  },
})
