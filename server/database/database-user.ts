import { readFile } from 'node:fs/promises'
import { AppError } from '../lib/error.ts'
import { run } from '../lib/run.ts'

/** The account that PostgreSQL runs as, because it refuses to run as root. */
export interface DatabaseUser {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** Parses the accounts of a passwd(5) text. */
export function parsePasswd(text: string): DatabaseUser[] {
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    return name && /^\d+$/.test(uid ?? '') && /^\d+$/.test(gid ?? '')
      ? [{ name, uid: Number(uid), gid: Number(gid) }]
      : []
  })
}

/** Prefers PostgreSQL's usual account to our own. Undefined if neither exists. */
export function chooseUser(users: readonly DatabaseUser[]): DatabaseUser | undefined {
  return ['postgres', ownName].map((name) => users.find((user) => user.name === name && user.uid !== 0)).find(Boolean)
}

const ownName = 'quayside'

/**
 * Returns undefined if this process is not root: PostgreSQL then runs as the same user. As root it
 * returns the account `postgres`, else `quayside`, which is created if it is missing, else `nobody`
 * if accounts cannot be created.
 */
export async function databaseUser(signal: AbortSignal): Promise<DatabaseUser | undefined> {
  if (process.getuid?.() !== 0) return undefined
  const known = chooseUser(await users())
  if (known) return known
  const args = [
    '--system',
    '--user-group',
    '--no-create-home',
    '--home-dir',
    '/nonexistent',
    '--shell',
    '/usr/sbin/nologin',
  ]
  await run('useradd', [...args, ownName], { signal, timeoutMs: 10_000 }).catch(() => signal.throwIfAborted())
  const all = await users()
  const user = chooseUser(all) ?? all.find((one) => one.name === 'nobody')
  if (user) return user
  throw new AppError(
    'unavailable',
    `PostgreSQL must not run as root, and the account "${ownName}" could not be created. Create it (useradd ` +
      `--system ${ownName}), start Quayside as another user, or set QUAYSIDE_DATABASE_URL.`,
  )
}

const users = async (): Promise<DatabaseUser[]> => parsePasswd(await readFile('/etc/passwd', 'utf8'))
