import { createHash } from 'node:crypto'
import { chown, lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../lib/error.ts'
import type { DatabaseUser } from './database-user.ts'
import { reachable } from './reachable.ts'

/** The directories of one embedded PostgreSQL. */
export interface Place {
  /** Our directory: contains the others, the configuration and the log. */
  readonly home: string
  /** PostgreSQL's data directory. */
  readonly cluster: string
  /**
   * The directory of the socket. Only PostgreSQL's user may enter it, so others have no access to
   * the database.
   */
  readonly sockets: string
}

/** Used by root if PostgreSQL's user cannot reach a private directory such as /root. */
export const systemDirectory = '/var/lib/quayside'

/** The maximum length of a socket's path in bytes is 107. */
const longestSocketDirectory = 107 - '/.s.PGSQL.5432'.length

/**
 * Decides where PostgreSQL is, and creates the directories. That is `directory`, unless
 * PostgreSQL's user cannot reach it because a parent directory is private. Permissions of
 * directories that are not ours are never widened. Instead the database is created in
 * `/var/lib/quayside/<digest>`, and the file `location` in `directory` names that place for every
 * later start.
 */
export async function preparePlace(directory: string, user: DatabaseUser | undefined): Promise<Place> {
  const asked = resolve(directory)
  await mkdir(asked, { recursive: true, mode: user ? 0o711 : 0o700 })
  const home = await chooseHome(asked, user)
  await mkdir(home, { recursive: true, mode: user ? 0o711 : 0o700 })
  const place = { home, cluster: join(home, 'cluster'), sockets: socketDirectory(home) }
  await makePrivate(place.sockets, user)
  return place
}

/** The directory for the socket of `home`: inside it if its path is short enough, else in /tmp. */
export function socketDirectory(home: string): string {
  const inside = join(home, 'socket')
  return Buffer.byteLength(inside) <= longestSocketDirectory ? inside : `/tmp/quayside-${digest(home)}`
}

async function chooseHome(asked: string, user: DatabaseUser | undefined): Promise<string> {
  const note = join(asked, 'location')
  const noted = await readFile(note, 'utf8').catch(() => undefined)
  if (noted) return notedHome(noted.trim(), note)
  if (await reachable(asked, user, 1)) return asked
  if (await stat(join(asked, 'cluster')).catch(() => undefined)) {
    throw new AppError(
      'unavailable',
      `The account "${user?.name}", as which PostgreSQL runs, cannot reach the database in ${asked}: a ` +
        'parent directory does not let others in. Allow that (chmod o+x), or move the data directory.',
    )
  }
  const home = join(systemDirectory, digest(asked))
  await mkdir(systemDirectory, { recursive: true, mode: 0o755 })
  // Created before the note, because a note without the directory means that the database was lost.
  await mkdir(home, { recursive: true, mode: 0o711 })
  await writeFile(note, `${home}\n`)
  return home
}

/** A missing database is an error, because an empty one in its place would hide the loss. */
async function notedHome(home: string, note: string): Promise<string> {
  if (await stat(home).catch(() => undefined)) return home
  throw new AppError(
    'unavailable',
    `The database in ${home}, which ${note} names, is gone. Restore it from a backup; or remove ${note} to ` +
      'begin with an empty database.',
  )
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Whether another start created it moments ago and has not yet passed it to PostgreSQL's user. */
async function isOursAndEmpty(path: string): Promise<boolean> {
  const found = await lstat(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) return false
  return (await readdir(path)).length === 0
}

/**
 * Creates a directory that only PostgreSQL's user and root can enter. Rejects a directory of
 * someone else.
 */
export async function makePrivate(path: string, user: DatabaseUser | undefined): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const made = await mkdir(path, { mode: 0o700 }).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') return false
      throw error
    },
  )
  if (user && (made || (await isOursAndEmpty(path)))) await chown(path, user.uid, user.gid)
  const found = await lstat(path)
  const owner = user?.uid ?? process.getuid?.()
  if (found.isDirectory() && found.uid === owner && (found.mode & 0o077) === 0) return
  throw new AppError(
    'unavailable',
    `${path} must be a directory of ${user?.name ?? 'this user'} that nobody else can enter (mode 0700). ` +
      'Remove it or correct it, and start again.',
  )
}
