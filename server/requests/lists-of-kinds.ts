import { type KindName, kindNames, serviceKinds } from '@quayside/contract/services/kinds.ts'

export type Plural = (typeof serviceKinds)[KindName]['plural']

/** Creates a list for each kind of service, by its name in the API: `applications` … */
export const listsOfKinds = <T>(of: (kind: KindName, plural: Plural) => T): Record<Plural, T> =>
  Object.fromEntries(
    kindNames.map((kind) => {
      const { plural } = serviceKinds[kind]
      return [plural, of(kind, plural)]
    }),
  ) as Record<Plural, T> // every kind has its list
