const words = {
  create: 'to create',
  update: 'to update',
  replace: 'to replace',
  delete: 'to delete',
  read: 'to read',
  forget: 'to forget',
} as const
type Action = keyof typeof words
export type Counts = Readonly<Record<Action, number>>

/** The order is that of the API. Object.keys loses its type. */
const actions = Object.keys(words) as Action[]

/** The signs of the engine, which people know. */
export const signs: Readonly<Record<Action, string>> = {
  create: '+',
  update: '~',
  replace: '±',
  delete: '−',
  read: '≡',
  forget: '×',
}

/** Pure: the effect of a plan in words, such as "2 to create, 1 to delete". */
export function countWords(counts: Counts): string {
  const parts = actions.filter((action) => counts[action] > 0).map((action) => `${counts[action]} ${words[action]}`)
  return parts.length === 0 ? 'no changes' : parts.join(', ')
}
