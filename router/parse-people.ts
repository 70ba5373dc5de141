import type { PeopleList, PeopleLists } from '@quayside/contract/sign-in.ts'
import { record } from './record.ts'

type Entry<T> = readonly [name: string, list: T]

/** Reads lists of people from untrusted data. Throws an Error that names the invalid list. */
export const parsePeople = (value: unknown): PeopleLists =>
  Object.fromEntries(entriesOf(value).map(([name, list]): Entry<PeopleList> => [name, parseList(list, name)]))

/** Reads changes of lists, with null for a removed one. Throws like `parsePeople`. */
export const parsePeopleChanges = (value: unknown): Readonly<Record<string, PeopleList | null>> =>
  Object.fromEntries(
    entriesOf(value).map(
      ([name, list]): Entry<PeopleList | null> => [name, list === null ? null : parseList(list, name)],
    ),
  )

const entriesOf = (value: unknown): readonly Entry<unknown>[] => Object.entries(record(value, 'people'))

function parseList(value: unknown, name: string): PeopleList {
  const where = `people["${name}"]`
  const entries = Object.entries(record(value, where)).map(([account, sinceMs]): [string, number] => {
    if (typeof sinceMs !== 'number' || !Number.isSafeInteger(sinceMs) || sinceMs < 0) {
      throw new Error(`${where}: each account has a time in milliseconds`)
    }
    return [account, sinceMs]
  })
  return Object.fromEntries(entries)
}
