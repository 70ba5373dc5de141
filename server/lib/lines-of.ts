/**
 * Splits a stream of text into lines in linear time: a line that comes in many pieces is joined
 * once, at its end.
 */
export async function* linesOf(stream: AsyncIterable<string>): AsyncGenerator<string> {
  let pieces: string[] = []
  for await (const text of stream) {
    const [first = '', ...more] = text.split('\n')
    pieces.push(first)
    for (const line of more) {
      yield pieces.join('')
      pieces = [line]
    }
  }
  yield pieces.join('')
}
