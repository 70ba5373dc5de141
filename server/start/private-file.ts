import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'

/**
 * Writes a line to a file that only this user reads. A reader never sees half of it. Servers that
 * share a directory may write it at the same time.
 */
export async function writePrivate(file: string, line: string): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`
  await writeFile(draft, `${line}\n`, { mode: 0o600, flag: 'wx' })
  await rename(draft, file)
}
