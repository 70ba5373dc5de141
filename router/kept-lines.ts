import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type AccessLine, isAccessLine } from '@quayside/contract/access-line.ts'
import type { AccessLines } from './access-lines.ts'
import { limits } from './limits.ts'
import { codeOf, describe, type Log } from './log.ts'

const nameForm = /^lines-[0-9a-f-]{36}\.json$/

/** Hands out lines to the control plane. */
export interface LineSource {
  readonly lines: Pick<KeptLines, 'take'>
}

/**
 * Hands the lines of requests to the control plane, and the lines that ended processes left in
 * files beside the route table. A process that has handed over still answers its open requests.
 */
export class KeptLines {
  readonly #lines: AccessLines
  readonly #directory: string
  readonly #log: Log

  constructor(lines: AccessLines, { state, log }: { readonly state: string; readonly log: Log }) {
    this.#lines = lines
    this.#directory = dirname(state)
    this.#log = log
  }

  /** Returns the lines of one ended process, or of this one since the last call. */
  take(): readonly AccessLine[] {
    const [name] = this.#files()
    return name === undefined ? this.#lines.take() : this.#takeFrom(join(this.#directory, name))
  }

  /** Leaves the lines that nobody has taken yet to the process that follows. */
  end(): void {
    const lines = this.#lines.take()
    if (lines.length === 0) return
    const path = join(this.#directory, `lines-${randomUUID()}.json`)
    try {
      if (this.#files().length >= limits.keptLineFiles) throw new Error('earlier ones have not been taken')
      writeFileSync(`${path}.new`, JSON.stringify(lines), { mode: 0o600 })
      renameSync(`${path}.new`, path)
    } catch (error) {
      this.#log.error('lines of requests could not be kept', { path, lines: lines.length, error: describe(error) })
    }
  }

  #files(): readonly string[] {
    return readdirSync(this.#directory).filter((name) => nameForm.test(name))
  }

  #takeFrom(path: string): readonly AccessLine[] {
    try {
      const found: unknown = JSON.parse(readFileSync(path, 'utf8'))
      rmSync(path, { force: true })
      return Array.isArray(found) ? found.filter(isAccessLine) : []
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return []
      this.#log.error('lines of an ended router could not be read', { path, error: describe(error) })
      rmSync(path, { force: true })
      return []
    }
  }
}
