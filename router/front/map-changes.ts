import { type HotLines, type MapName, mapNames } from './hot-routes.ts'
import type { HotHosts } from './hot-table.ts'

/** The most bytes of one line of commands: HAProxy reads it into one buffer. */
const lineBytes = 12_000
/** More changed lines than this replace the whole map. Each one costs a search in HAProxy. */
const mostChanges = 500

type Files = Readonly<Record<MapName, string>>
type Line = readonly [key: string, line: string]

/** The changes of one map. */
interface MapChanges {
  readonly gone: readonly string[]
  readonly set: readonly Line[]
  readonly added: readonly Line[]
}

/**
 * Returns the lines of commands that change the maps in HAProxy, in order. Only the lines of hosts
 * whose objects differ are compared. Each command answers nothing if it succeeds.
 *
 * A request that finds the name of shares but no share goes to the router. So shares come first and
 * leave last. Undefined if so much changes that `replacement` costs less.
 */
export function mapCommands(files: Files, before: HotHosts, after: HotHosts): readonly string[] | undefined {
  const changes = changesOf(before, after)
  const count = mapNames.reduce((sum, name) => sum + changes[name].gone.length + changes[name].set.length, 0)
  if (count > mostChanges) return undefined
  return packed([
    ...mapNames.flatMap((name) => [
      ...changes[name].set.map(([key, line]) => `set map ${files[name]} ${key} ${line.replaceAll(' ', '\\ ')}`),
      ...payloads(changes[name].added).map((lines) => `add map ${files[name]} <<\n${lines}`),
    ]),
    ...mapNames.toReversed().flatMap((name) => changes[name].gone.map((key) => `del map ${files[name]} ${key}`)),
  ])
}

/** Returns the command that begins another version of a map. Its answer ends with the number. */
export const beginReplacement = (file: string): string => `prepare map ${file}`

/** Returns the commands that fill a version of a map and put it in place of the current one. */
export const replacement = (file: string, version: string, lines: readonly Line[]): readonly string[] => [
  ...payloads(lines).map((some) => `add map @${version} ${file} <<\n${some}`),
  `commit map @${version} ${file}`,
]

/** Returns all lines of a map. */
export const linesOf = (hosts: HotHosts, name: MapName): readonly Line[] =>
  [...hosts.values()].flatMap((lines) => lines[name])

function changesOf(before: HotHosts, after: HotHosts): Readonly<Record<MapName, MapChanges>> {
  const empty = (): MapChanges & Record<keyof MapChanges, unknown[]> => ({ gone: [], set: [], added: [] })
  const changes = { shares: empty(), plain: empty(), secure: empty() }
  const compare = (old: HotLines | undefined, next: HotLines | undefined): void => {
    for (const name of mapNames) {
      const [known, wanted] = [new Map(old?.[name]), new Map(next?.[name])]
      for (const key of known.keys()) if (!wanted.has(key)) changes[name].gone.push(key)
      for (const [key, line] of wanted) {
        const last = known.get(key)
        if (last === undefined) changes[name].added.push([key, line])
        else if (last !== line) changes[name].set.push([key, line])
      }
    }
  }
  let added = 0
  for (const [host, lines] of after) {
    const old = before.get(host)
    if (old === undefined) added++
    if (old !== lines) compare(old, lines)
  }
  // Usually none is gone, and a large table takes milliseconds.
  if (before.size + added === after.size) return changes
  for (const [host, old] of before) if (!after.has(host)) compare(old, undefined)
  return changes
}

/** Joins commands into as few lines as possible. A payload ends its line. */
function packed(commands: readonly string[]): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const command of commands) {
    if (line !== '' && line.length + command.length > lineBytes) {
      lines.push(line)
      line = ''
    }
    line = line === '' ? command : `${line}; ${command}`
    if (!command.includes('\n')) continue
    lines.push(line)
    line = ''
  }
  return line === '' ? lines : [...lines, line]
}

/** Returns the lines in pieces that fit into one command each. */
function payloads(lines: readonly Line[]): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const [key, line] of lines) {
    if (piece.length > lineBytes / 2) {
      pieces.push(piece)
      piece = ''
    }
    piece += `${key} ${line}\n`
  }
  return piece === '' ? pieces : [...pieces, piece]
}
