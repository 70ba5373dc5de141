import { createHash } from 'node:crypto'
import { chown, lstat, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../lib/error.ts'
import type { DatabaseUser } from './database-user.ts'
import { reachable } from './reachable.ts'

/** Where everything of one embedded PostgreSQL is. */
export interface Place {
  /** Ours: holds the following, the configuration and the log. */
  readonly home: string
  /** PostgreSQL's data directory. */
  readonly cluster: string
  /** Holds the socket; only PostgreSQL's user may enter it, which is what keeps others out. */
  readonly sockets: string
}

/** Root's place for what PostgreSQL's user cannot reach in a private directory such as /root. */
export const systemDirectory = '/var/lib/quayside'

/** A socket's path has at most 107 bytes. */
const longestSocketDirectory = 107 - '/.s.PGSQL.5432'.length

/**
 * Decides where PostgreSQL lives and makes the directories. That is `directory`, unless PostgreSQL's user cannot get there
 * because a directory above is private: permissions of directories that are not ours are never loosened, so the database goes to
 * `/var/lib/quayside/<digest>`, and the file `location` in `directory` says so, then and for every later start.
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

/** The directory for the socket of `home`: inside where its path is short enough, else in /tmp. */
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
      `The database in ${asked} cannot be reached by the account "${user?.name}", as which PostgreSQL runs: a directory above it does not let others in. Allow that (chmod o+x), or move the data directory.`,
    )
  }
  const home = join(systemDirectory, digest(asked))
  await mkdir(systemDirectory, { recursive: true, mode: 0o755 })
  // before the note: a note without the directory means that the database was lost
  await mkdir(home, { recursive: true, mode: 0o711 })
  await writeFile(note, `${home}\n`)
  return home
}

/** A database that is gone is an error: an empty one in its place would hide the loss. */
async function notedHome(home: string, note: string): Promise<string> {
  if (await stat(home).catch(() => undefined)) return home
  throw new AppError(
    'unavailable',
    `The database in ${home}, which ${note} names, is gone. Restore it from a backup; or remove ${note} to begin with an empty database.`,
  )
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16)

/** Made a moment ago by another start, which has not handed it to PostgreSQL's user yet. */
async function isOursAndEmpty(path: string): Promise<boolean> {
  const found = await lstat(path)
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) return false
  return (await readdir(path)).length === 0
}

/** A directory that only PostgreSQL's user (and root) can enter. Refuses one that somebody else made. */
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
    `${path} must be a directory of ${user?.name ?? 'this user'} that nobody else can enter (mode 0700). Remove it, or set it right, and start again.`,
  )
}
