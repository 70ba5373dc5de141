import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'

/**
 * Writes a line to a file that only this user reads. A reader never sees half of it. Servers that
 * share a directory may write it at the same time.
 */
export const writePrivate = (file: string, line: string): Promise<void> => write(file, line, 0o600)

/** The same for a file that everybody may read. */
export const writePublic = (file: string, line: string): Promise<void> => write(file, line, 0o644)

async function write(file: string, line: string, mode: number): Promise<void> {
  const draft = `${file}.${randomUUID()}.new`
  await writeFile(draft, `${line}\n`, { mode, flag: 'wx' })
  await rename(draft, file)
}
