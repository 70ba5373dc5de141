import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogLine } from '../server/engines/engine.ts'
import { systemClock } from '../server/lib/clock.ts'
import { silentLogger } from '../server/lib/log.ts'
import { createCollector, type LineStore, openLineStore } from '../server/logs/index.ts'

/** Lines of 120 bytes. */
const text =
  'GET /api/v1/orders 200 12 ms user=4711 trace=0af7651916cd43dd8448eb211c80319c referer=https://shop.example/basket?'
const replica = 'shop-7d9f8c6b5-x2x9k'
const release = '019a3b5c-7d1e-7f00-8a9b-0c1d2e3f4a5b'

export interface LogFigures {
  /**
   * Times to read the last 1,000 of 10 million lines, first after opening the store, then
   * repeatedly.
   */
  readonly tailMs: number[]
  /**
   * Lines a second through the collector, from an engine that never waits, until they are on disk.
   */
  readonly linesPerSecond: number[]
  /** Times from `append` until a follower has the line, at 100 lines a second. */
  readonly followMs: number[]
  /**
   * Growth of the process's memory while 10 million lines were appended, and while 200 streams were
   * fed.
   */
  readonly grownMiB: { readonly tenMillion: number; readonly twoHundredStreams: number }
}

/** Measures the log store in a temporary directory, which needs 2 GB for a minute. */
export async function measureLogs(lines = 10_000_000): Promise<LogFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-bench-logs-'))
  const open = (): LineStore =>
    openLineStore({ directory, clock: systemClock, log: silentLogger, maxBytesPerStream: { service: 8e9 } })
  try {
    const store = open()
    const tenMillion = await growthMiB(() => fill(store, lines))
    await store.close()
    const tailMs = await measureTail(open)
    await rm(join(directory, 'service'), { recursive: true, force: true })
    const feeding = open()
    const linesPerSecond: number[] = []
    for (let round = 0; round < 5; round++)
      linesPerSecond.push(await measureCollector(feeding, `round-${round}`, 500_000))
    const twoHundredStreams = await growthMiB(() => feedMany(feeding, 200, 5_000))
    const followMs = await measureFollow(feeding, 200)
    await feeding.close()
    return { tailMs, linesPerSecond, followMs, grownMiB: { tenMillion, twoHundredStreams } }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function fill(store: LineStore, lines: number): Promise<void> {
  for (let stored = 0; stored < lines; stored += 100) {
    const batch = Array.from({ length: 100 }, (_, index) => line(stored + index, 'GET /health 200 '))
    await store.append('service/big', batch)
  }
  await store.flush()
}

async function measureTail(open: () => LineStore): Promise<number[]> {
  const figures: number[] = []
  for (let round = 0; round < 10; round++) {
    const store = open()
    for (let again = 0; again < 3; again++) {
      const start = systemClock.monotonic()
      const lines = await store.tail('service/big', 1000)
      figures.push(systemClock.monotonic() - start)
      if (lines.length !== 1000) throw new Error(`${lines.length} instead of 1000 lines`)
    }
    await store.close()
  }
  return figures
}

async function measureCollector(store: LineStore, service: string, lines: number): Promise<number> {
  const ended = Promise.withResolvers<void>()
  async function* logs(): AsyncGenerator<LogLine> {
    for (let index = 0; index < lines; index++) yield line(index)
    ended.resolve()
    await new Promise(() => {})
  }
  const collector = createCollector({
    sourceOf: async () => ({ logs }),
    store,
    clock: systemClock,
    log: silentLogger,
    linesPerSecond: 1e9,
  })
  const start = systemClock.monotonic()
  collector.follow(service)
  await ended.promise
  await store.flush()
  const seconds = (systemClock.monotonic() - start) / 1000
  const [last] = await store.tail(`service/${service}`, 1)
  if (last?.seq !== lines) throw new Error(`${last?.seq} instead of ${lines} lines were stored`)
  return lines / seconds
}

async function feedMany(store: LineStore, streams: number, lines: number): Promise<void> {
  for (let stored = 0; stored < lines; stored += 50) {
    const batch = Array.from({ length: 50 }, (_, index) => line(stored + index))
    await Promise.all(Array.from({ length: streams }, (_, index) => store.append(`service/many-${index}`, batch)))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await store.flush()
}

async function measureFollow(store: LineStore, lines: number): Promise<number[]> {
  const stop = new AbortController()
  const figures: number[] = []
  let appendedAt = 0
  const done = (async () => {
    for await (const _line of store.follow('service/followed', 0, stop.signal)) {
      figures.push(systemClock.monotonic() - appendedAt)
    }
  })()
  for (let index = 0; index < lines; index++) {
    appendedAt = systemClock.monotonic()
    await store.append('service/followed', [line(index)])
    await systemClock.sleep(10)
  }
  stop.abort()
  await done
  return figures
}

function line(index: number, start = text) {
  const ns = String(index % 1_000_000_000).padStart(9, '0')
  const at = `2025-01-01T00:00:00.${ns}Z`
  return { at, replica, release, stream: 'stdout' as const, text: start + String(index).padStart(8, '0') }
}

async function growthMiB(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage().rss
  let most = before
  const stop = new AbortController()
  const watching = (async () => {
    while (!stop.signal.aborted) {
      most = Math.max(most, process.memoryUsage().rss)
      await systemClock.sleep(50, stop.signal).catch(() => {})
    }
  })()
  await work()
  stop.abort()
  await watching
  return (most - before) / 1024 / 1024
}
