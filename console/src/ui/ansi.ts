// Programs colour their lines for terminals. This reads the colours and drops all other commands.
// Each character is read once, so the time grows with the length of the line alone.

/** The eight colours of terminals. The console draws each in a token of its design. */
export const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
export type Colour = (typeof colours)[number]

/** A part of a line with one look. */
export interface Piece {
  readonly text: string
  readonly colour?: Colour
  readonly isBold?: boolean
  readonly isDim?: boolean
}

type Look = Omit<Piece, 'text'>

const escapeCode = '\u001b'
const bell = '\u0007'

/** Pure: splits a line into pieces with one look each, without commands of terminals. */
export function readAnsi(line: string): readonly Piece[] {
  if (!line.includes(escapeCode)) return line === '' ? [] : [{ text: line }]
  const pieces: Piece[] = []
  let look: Look = {}
  let place = 0
  while (place < line.length) {
    const next = line.indexOf(escapeCode, place)
    const end = next === -1 ? line.length : next
    if (end > place) pieces.push({ ...look, text: line.slice(place, end) })
    if (next === -1) break
    const command = commandAt(line, next)
    if (command.codes) look = lookAfter(look, command.codes)
    place = command.end
  }
  return pieces
}

/** Pure: the text of a line without colours. */
export const plainText = (line: string): string =>
  line.includes(escapeCode)
    ? readAnsi(line)
        .map(({ text }) => text)
        .join('')
    : line

interface Command {
  /** The place after it. */
  readonly end: number
  /** The numbers of a command that sets the look. */
  readonly codes?: readonly number[]
}

/** Reads the command that begins at an escape. One without an end takes the rest of the line. */
function commandAt(line: string, start: number): Command {
  const kind = line[start + 1]
  if (kind === '[') return controlAt(line, start + 2)
  // A title or a link: text for the terminal that ends with a bell or with an escape.
  if (kind === ']') return { end: endOfText(line, start + 2) }
  return { end: start + 2 }
}

function controlAt(line: string, start: number): Command {
  let end = start
  while (end < line.length && isBetween(line, end, 0x20, 0x3f)) end++
  if (line[end] !== 'm') return { end: end + 1 }
  return { end: end + 1, codes: line.slice(start, end).split(/[;:]/).map(Number) }
}

const isBetween = (line: string, place: number, low: number, high: number): boolean => {
  const code = line.charCodeAt(place)
  return code >= low && code <= high
}

function endOfText(line: string, start: number): number {
  for (let place = start; place < line.length; place++) {
    if (line[place] === bell) return place + 1
    if (line[place] === escapeCode) return line[place + 1] === '\\' ? place + 2 : place
  }
  return line.length
}

/** Pure: the look after the codes of one command. Codes without a meaning here are left out. */
function lookAfter(before: Look, codes: readonly number[]): Look {
  let look = before
  for (let index = 0; index < codes.length; index++) {
    const code = codes[index] ?? 0
    if (code === 0) look = {}
    else if (code === 1) look = { ...look, isBold: true }
    else if (code === 2) look = { ...look, isDim: true }
    else if (code === 22) look = { ...look, isBold: false, isDim: false }
    else if (code === 38 || code === 48) {
      const [colour, skipped] = paletteColour(codes, index)
      if (code === 38) look = withColour(look, colour)
      index += skipped
    } else if (code === 39) look = withColour(look, undefined)
    else if (code >= 30 && code <= 37) look = withColour(look, colours[code - 30])
    else if (code >= 90 && code <= 97) look = withColour(look, colours[code - 90])
  }
  return look
}

function withColour({ colour: _, ...others }: Look, colour: Colour | undefined): Look {
  return colour ? { ...others, colour } : others
}

/** Reads `38;5;N` and `38;2;R;G;B`. Only the first sixteen colours of the palette have a name. */
function paletteColour(codes: readonly number[], index: number): [Colour | undefined, number] {
  const kind = codes[index + 1]
  if (kind === 2) return [undefined, 4]
  const number = codes[index + 2] ?? 16
  return [kind === 5 && number < 16 ? colours[number % 8] : undefined, 2]
}
