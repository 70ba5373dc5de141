import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Returns the path of a program in PATH, or undefined if it is not installed. */
export async function findProgram(name: string): Promise<string | undefined> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = join(directory, name)
    const isThere = access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (directory !== '' && (await isThere)) return path
  }
  return undefined
}
