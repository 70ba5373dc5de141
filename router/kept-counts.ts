import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CountBatch, isCounts, type StoredBatches } from '@quayside/contract/traffic-counts.ts'
import { after, monotonic } from './clock.ts'
import { limits } from './limits.ts'
import { codeOf, describe, type Log } from './log.ts'
import { record } from './record.ts'
import type { ServiceCounts } from './service-counts.ts'

const nameForm = /^traffic-([0-9a-f-]{36})\.json$/

/**
 * Hands the numbers of this process to the control plane, and those that ended processes left in
 * files beside the route table. While the control plane is away, this process writes its own file,
 * so that a kill loses at most the last seconds.
 */
export class KeptCounts {
  readonly #counts: ServiceCounts
  readonly #directory: string
  readonly #own: string
  readonly #log: Log
  #askedAt = monotonic()
  #hasFile = false
  #cancel: (() => void) | undefined

  constructor(counts: ServiceCounts, { state, log }: { readonly state: string; readonly log: Log }) {
    this.#counts = counts
    this.#directory = dirname(state)
    this.#own = `traffic-${counts.source}.json`
    this.#log = log
  }

  /** Begins to look whether the control plane is away. */
  start(): void {
    this.#cancel = after(limits.keptCountsMs, () => {
      if (monotonic() - this.#askedAt >= limits.keptCountsMs) this.#save(false)
      this.start()
    })
  }

  /** Returns the batches that are not stored yet. Deletes files whose batches are. */
  take(stored: StoredBatches): readonly CountBatch[] {
    this.#askedAt = monotonic()
    const own = this.#counts.take(stored[this.#counts.source] ?? 0)
    if (this.#hasFile) {
      rmSync(join(this.#directory, this.#own), { force: true })
      this.#hasFile = false
    }
    const left = this.#files().flatMap((name) => this.#leftIn(name, stored))
    return own ? [own, ...left] : left
  }

  /** Leaves the numbers that nobody has taken yet to the process that follows. */
  end(): void {
    this.#cancel?.()
    this.#save(true)
  }

  /** Stops writing the file, because the process ends soon. */
  stop(): void {
    this.#cancel?.()
  }

  #save(hasEnded: boolean): void {
    const batches = this.#counts.left()
    if (batches.length === 0) return
    const path = join(this.#directory, this.#own)
    try {
      writeFileSync(`${path}.new`, JSON.stringify({ hasEnded, batches }), { mode: 0o600 })
      renameSync(`${path}.new`, path)
      this.#hasFile = true
    } catch (error) {
      this.#log.error('numbers about traffic could not be kept', { path, error: describe(error) })
    }
  }

  #files(): readonly string[] {
    return readdirSync(this.#directory)
      .filter((name) => nameForm.test(name) && name !== this.#own)
      .slice(0, limits.keptCountFiles)
  }

  /** A file of a process that has not ended in order is read once that process must have ended. */
  #leftIn(name: string, stored: StoredBatches): readonly CountBatch[] {
    const path = join(this.#directory, name)
    try {
      const age = Date.now() - statSync(path).mtimeMs
      const { hasEnded, batches } = record(JSON.parse(readFileSync(path, 'utf8')), 'the file')
      if (hasEnded !== true && age >= 0 && age < limits.endedCountsMs) return []
      const left = (Array.isArray(batches) ? batches : []).map(batchOf).filter(isNew(stored))
      if (left.length === 0) rmSync(path, { force: true })
      return left
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      this.#log.error('numbers of an ended router could not be read', { path, error: describe(error) })
      rmSync(path, { force: true })
      return []
    }
  }
}

const isNew =
  (stored: StoredBatches) =>
  ({ source, batch }: CountBatch): boolean =>
    batch > (stored[source] ?? 0)

function batchOf(value: unknown): CountBatch {
  const { source, batch, counts } = record(value, 'the batch')
  if (typeof source !== 'string' || typeof batch !== 'number') throw new Error('a batch has no number')
  const entries = Object.entries(record(counts, 'the counts')).flatMap(([service, one]) =>
    isCounts(one) ? [[service, one] as const] : [],
  )
  return { source, batch, counts: Object.fromEntries(entries) }
}
