/** Something that a person can do or open from anywhere. */
export interface Command {
  readonly id: string
  readonly group: 'This page' | 'Go to' | 'Environments' | 'Services' | 'Projects'
  readonly label: string
  /** The place of it, such as the environment of a service. */
  readonly hint?: string
  /** Its keys, such as `g p`. */
  readonly keys?: string
  /** Why it cannot be done now. */
  readonly refusal?: string | undefined
  /** Whether it changes something, other than opening a page or a form. */
  readonly isChange?: boolean
  /** May return a promise, which rejects with the error of the API. */
  run(): unknown
}

export interface CommandGroup {
  readonly value: Command['group']
  readonly items: readonly Command[]
}

const order = ['This page', 'Go to', 'Environments', 'Services', 'Projects'] as const
const most = 60
const mostWords = 8

/**
 * Pure: the commands whose text contains every word, by group, best first. It takes time linear in
 * the length of all texts.
 */
export function findCommands(commands: readonly Command[], text: string): readonly CommandGroup[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, mostWords)
  const ranks: Command[][] = [[], [], []]
  for (const command of commands) ranks[rankOf(command, words)]?.push(command)
  const found = ranks.flat().slice(0, most)
  return order
    .map((value) => ({ value, items: found.filter(({ group }) => group === value) }))
    .filter(({ items }) => items.length > 0)
}

/** 0 is the best rank. 3 means that a word is missing. */
function rankOf({ label, hint = '' }: Command, words: readonly string[]): number {
  const name = label.toLowerCase()
  if (words.every((word) => name.includes(word))) return name.startsWith(words[0] ?? '') ? 0 : 1
  const all = `${name} ${hint.toLowerCase()}`
  return words.every((word) => all.includes(word)) ? 2 : 3
}
