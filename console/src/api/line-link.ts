import type { Line } from './line-store.ts'

/** A line in an address: its moment, and a number made of its text. The API gives lines no id. */
export interface LineLink {
  readonly at: number
  readonly mark: string
}

/** Pure: the name of a line in an address, such as "1767225600000-1a2b3c". */
export const lineName = ({ at, pod, text }: Pick<Line, 'at' | 'pod' | 'text'>): string => `${at}-${markOf(pod + text)}`

/** Pure: reads the name of a line. Undefined if it is none. */
export function readLineName(name: string): LineLink | undefined {
  const [, at, mark] = /^(\d{1,15})-([0-9a-f]{1,8})$/.exec(name) ?? []
  return at && mark ? { at: Number(at), mark } : undefined
}

/** The hash FNV-1a. It tells the lines of one moment apart, and nothing more. */
function markOf(text: string): string {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash >>> 0).toString(16)
}
