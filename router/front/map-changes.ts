import type { HotLines } from './hot-routes.ts'

/** More changed lines than this replace the whole map. */
const mostChanges = 500
/** The most bytes of lines in one command: HAProxy reads a command into one buffer. */
const commandBytes = 12_000

/** One command for HAProxy's socket. */
export interface MapCommands {
  /** The commands, in order, with `version` in place of the number that the first one returns. */
  readonly begins: string | undefined
  commands(version: string): readonly string[]
}

/**
 * Returns the commands that change a map in HAProxy. `before` is undefined if its lines are
 * unknown: the map is then replaced at once. Undefined if nothing changes.
 */
export function mapChanges(file: string, before: HotLines | undefined, after: HotLines): MapCommands | undefined {
  const changed = before && changesOf(file, before, after)
  if (changed?.length === 0) return undefined
  if (changed && changed.length <= mostChanges) return { begins: undefined, commands: () => changed }
  return {
    begins: `prepare map ${file}`,
    commands: (version) => [
      ...payloads([...after]).map((lines) => `add map @${version} ${file} <<\n${lines}`),
      `commit map @${version} ${file}`,
    ],
  }
}

function changesOf(file: string, before: HotLines, after: HotLines): string[] {
  const commands: string[] = []
  for (const key of before.keys()) if (!after.has(key)) commands.push(`del map ${file} ${key}`)
  for (const [key, line] of after) {
    const known = before.get(key)
    // A value with spaces needs the form with a payload. Without one, spaces are escaped.
    if (known === undefined) commands.push(`add map ${file} <<\n${key} ${line}\n`)
    else if (known !== line) commands.push(`set map ${file} ${key} ${line.replaceAll(' ', '\\ ')}`)
  }
  return commands
}

/** Returns the lines in pieces that fit into one command each. */
function payloads(lines: readonly (readonly [string, string])[]): string[] {
  const pieces: string[] = []
  let piece = ''
  for (const [key, line] of lines) {
    if (piece.length > commandBytes) {
      pieces.push(piece)
      piece = ''
    }
    piece += `${key} ${line}\n`
  }
  return piece === '' ? pieces : [...pieces, piece]
}
