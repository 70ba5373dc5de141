import { readdir, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { localEngine } from '../engines/index.ts'

/** What the files of lines take. */
export interface MeasuredLines {
  readonly count: number
  readonly bytes: number
  /** Bytes by the id of the service or execution. */
  readonly byOwner: ReadonlyMap<string, number>
}

/**
 * Measures the files of `<directory>/<kind>/<id>/` on the disk of an engine. They are on this
 * machine, and take nothing on other engines. Files come and go meanwhile.
 */
export async function measureLines(engine: string, directory: string): Promise<MeasuredLines> {
  if (engine !== localEngine) return { count: 0, bytes: 0, byOwner: new Map() }
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const sum = { count: 0, bytes: 0 }
  const byOwner = new Map<string, number>()
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined)
    if (!found) continue
    sum.count += 1
    sum.bytes += found.size
    const id = basename(entry.parentPath)
    byOwner.set(id, (byOwner.get(id) ?? 0) + found.size)
  }
  return { ...sum, byOwner }
}
