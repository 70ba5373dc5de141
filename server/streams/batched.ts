import type { StoredLine } from '../logs/index.ts'

/** Returns available lines together, up to a limit. A single line is not held back. */
export async function* batched(lines: AsyncGenerator<StoredLine>, most: number): AsyncGenerator<StoredLine[]> {
  let next = lines.next()
  for (;;) {
    const first = await next
    if (first.done) return
    const batch = [first.value]
    let isOver = false
    for (;;) {
      next = lines.next()
      const more = batch.length < most ? await Promise.race([next, turn()]) : undefined
      if (!more) break
      isOver = more.done === true
      if (more.done) break
      batch.push(more.value)
    }
    yield batch
    if (isOver) return
  }
}

const turn = (): Promise<undefined> => new Promise((resolve) => setImmediate(resolve, undefined))
