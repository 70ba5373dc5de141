import type { LogLine } from './log-line.ts'

/** Merges ordered sequences into one ordered sequence. */
export async function* mergeLines(sources: readonly AsyncGenerator<LogLine>[]): AsyncGenerator<LogLine> {
  try {
    const heads = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })))
    for (;;) {
      let earliest: { source: AsyncGenerator<LogLine>; next: IteratorResult<LogLine> } | undefined
      for (const head of heads) {
        if (head.next.done) continue
        if (earliest === undefined || head.next.value.at < earliest.next.value.at) earliest = head
      }
      if (earliest === undefined) return
      yield earliest.next.value
      earliest.next = await earliest.source.next()
    }
  } finally {
    await Promise.allSettled(sources.map((source) => source.return(undefined)))
  }
}
