/**
 * Splits output at line feeds in linear time, without a carriage return before them. Keeps the
 * beginning of a line that is too long and drops its rest, so that no line fills the memory.
 */
export async function* boundedLines(output: AsyncIterable<Buffer>, mostBytes: number): AsyncGenerator<string> {
  let pieces: Buffer[] = []
  let length = 0
  const keep = (piece: Buffer): void => {
    const kept = piece.subarray(0, mostBytes - length)
    if (kept.length === 0) return
    pieces.push(kept)
    length += kept.length
  }
  const taken = (): string => {
    const text = Buffer.concat(pieces).toString()
    pieces = []
    length = 0
    return text.endsWith('\r') ? text.slice(0, -1) : text
  }
  for await (const piece of output) {
    let from = 0
    for (let end = piece.indexOf(10); end !== -1; end = piece.indexOf(10, from)) {
      keep(piece.subarray(from, end))
      yield taken()
      from = end + 1
    }
    keep(piece.subarray(from))
  }
  if (length > 0) yield taken()
}
