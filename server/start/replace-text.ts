import { randomUUID } from 'node:crypto'
import { rename, writeFile } from 'node:fs/promises'

/** Replaces a file in one step. Several servers may do so at the same time. */
export async function replaceText(file: string, text: string, mode = 0o644): Promise<void> {
  const next = `${file}.${randomUUID()}.next`
  await writeFile(next, text, { mode })
  await rename(next, file)
}
