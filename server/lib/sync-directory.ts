import { open } from 'node:fs/promises'

/**
 * Flushes a directory to the disk, so that names that were created, replaced or removed survive a
 * crash.
 */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
