/** Passes pieces on. Throws the error before a piece that would make them longer than the limit. */
export async function* atMost(
  pieces: AsyncIterable<Uint8Array>,
  limitBytes: number,
  error: () => Error,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > limitBytes) throw error()
    yield piece
  }
}
