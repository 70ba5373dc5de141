import { rename, writeFile } from 'node:fs/promises'

/** Writes a line to a file that only this user reads. A reader never sees half of it. */
export async function writePrivate(file: string, line: string): Promise<void> {
  await writeFile(`${file}.new`, `${line}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
