/**
 * Returns the first bytes of a stream, and ends it once there are more. The sender may be somebody
 * who wants to fill the memory.
 */
export async function beginningOf(stream: AsyncIterable<Buffer>, mostBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of stream) {
    pieces.push(piece)
    length += piece.length
    if (length >= mostBytes) break
  }
  return Buffer.concat(pieces).subarray(0, mostBytes)
}
