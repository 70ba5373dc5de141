import { open } from 'node:fs/promises'

/** Sees to it that the names in a directory are on the disk: those that were made, exchanged and removed. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
