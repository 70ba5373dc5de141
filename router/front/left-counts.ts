import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { codeOf } from '../log.ts'
import { record } from '../record.ts'

/** The counts of an HAProxy up to which a router has returned them. */
export interface LeftCounts {
  /** The process of HAProxy. */
  readonly pid: number
  /** Its answer to `show table endpoints`. */
  readonly text: string
}

/** Leaves counts to the router that has HAProxy next. */
export async function writeLeftCounts(path: string, counts: LeftCounts): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify(counts), { mode: 0o600 })
  await rename(`${path}.new`, path)
}

/** Returns the counts that the previous router left, once. Undefined if it left none. */
export async function takeLeftCounts(path: string): Promise<LeftCounts | undefined> {
  const found = await readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (found === undefined) return undefined
  await rm(path, { force: true })
  const { pid, text } = record(JSON.parse(found), 'the file')
  if (typeof pid !== 'number' || typeof text !== 'string') throw new Error(`${path} has no counts of HAProxy`)
  return { pid, text }
}
