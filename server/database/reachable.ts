import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { DatabaseUser } from './database-user.ts'

interface Permissions {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/**
 * Whether the user has all of `wanted` (4 read, 2 write, 1 search or execute) on a file with these
 * permissions.
 */
export function grants(file: Permissions, user: DatabaseUser, wanted: number): boolean {
  const shift = file.uid === user.uid ? 6 : file.gid === user.gid ? 3 : 0
  return ((file.mode >> shift) & wanted) === wanted
}

/**
 * Whether the user may search every directory above `path`, and has `wanted` on `path` itself.
 * Without a user it is this process's.
 */
export async function reachable(path: string, user: DatabaseUser | undefined, wanted: number): Promise<boolean> {
  if (!user) return true
  if (!grants(await stat(path), user, wanted)) return false
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    if (!grants(await stat(directory), user, 1)) return false
    if (directory === dirname(directory)) return true
  }
}
