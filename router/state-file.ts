import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { RouteChanges, RouteTable } from '@quayside/contract/routes.ts'
import { codeOf, describe, type Log } from './log.ts'
import { emptyTable, parseRouteChanges, parseRouteTable } from './route-table.ts'
import { changedTable, joinedChanges } from './table-changes.ts'

/** The most bytes of changes. A whole table takes their place then. */
const mostBytes = 1024 * 1024

/**
 * The route table on disk, in two files: a whole table, and the later changes, one per line. Most
 * changes are of one route, and to write ten thousand routes takes tens of milliseconds. A power
 * cut leaves the table with or without the last change. Calls must not overlap.
 */
export class StateFile {
  readonly #path: string
  readonly #changes: string
  readonly #log: Log
  /** The version on disk. Undefined: only a whole table can be saved. */
  #version: number | undefined
  /** The size of the file of changes. */
  #bytes = 0

  constructor(path: string, log: Log) {
    this.#path = path
    this.#changes = `${path}.changes`
    this.#log = log
  }

  /**
   * Returns the last saved table. Returns an empty one if none exists, or if it cannot be read
   * (logged).
   */
  async load(): Promise<RouteTable> {
    this.#version = undefined
    try {
      return await this.#withChanges(parseRouteTable(JSON.parse(await readFile(this.#path, 'utf8'))))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#unread(this.#path, error)
      return emptyTable
    }
  }

  /**
   * Saves a table. `changes` made it from the last saved one, if they begin with its version.
   * Rejects with the system's error.
   */
  async save(table: RouteTable, changes?: RouteChanges): Promise<void> {
    const line = changes && changes.from === this.#version ? Buffer.from(`${JSON.stringify(changes)}\n`) : undefined
    // After an error it is unknown what the files have.
    this.#version = undefined
    if (line && this.#bytes + line.length <= mostBytes) await this.#append(line)
    else await this.#replace(JSON.stringify(table))
    this.#version = table.version
  }

  /** Returns the table after all changes that can be read. */
  async #withChanges(table: RouteTable): Promise<RouteTable> {
    const bytes = await readFile(this.#changes).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return Buffer.of()
      this.#unread(this.#changes, error)
      return undefined
    })
    if (!bytes) return table
    this.#bytes = bytes.length
    const lines = bytes.toString('utf8').split('\n')
    // A power cut leaves a part of the last change.
    const isWhole = lines.pop() === ''
    const known: RouteChanges[] = []
    try {
      for (const line of lines) {
        const next = parseRouteChanges(JSON.parse(line))
        if (continues(known.at(-1) ?? table, next)) known.push(next)
      }
      if (isWhole) this.#version = (known.at(-1) ?? table).version
    } catch (error) {
      this.#unread(this.#changes, error)
    }
    const { version } = known.at(-1) ?? table
    return changedTable(table, { from: table.version, version, ...joinedChanges(known) })
  }

  async #append(line: Buffer): Promise<void> {
    await write(this.#changes, 'a', line)
    if (this.#bytes === 0) await syncDirectory(this.#changes)
    this.#bytes += line.length
  }

  async #replace(text: string): Promise<void> {
    const draft = `${this.#path}.new`
    await write(draft, 'w', text)
    await rename(draft, this.#path)
    // If they remain after a power cut, they are not newer than the table.
    await rm(this.#changes, { force: true })
    await syncDirectory(this.#path)
    this.#bytes = 0
  }

  #unread(path: string, error: unknown): void {
    this.#log.error('stored route table could not be read', { path, error: describe(error) })
  }
}

/** Returns false for changes that a table already has. Throws an Error if changes are missing. */
function continues({ version }: { readonly version: number }, next: RouteChanges): boolean {
  if (next.version <= version) return false
  if (next.from !== version) throw new Error(`table ${next.from} was changed, and table ${version} is stored`)
  return true
}

async function write(path: string, flags: 'a' | 'w', content: string | Buffer): Promise<void> {
  const file = await open(path, flags, 0o600)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(dirname(path), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
