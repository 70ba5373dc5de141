import { randomBytes, randomUUID } from 'node:crypto'
import { link, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf } from '../lib/error.ts'
import { syncDirectory } from '../lib/sync-directory.ts'

/**
 * The purpose of a key file is its first line. The second line contains 32 random bytes in
 * base64url.
 */
export type KeyPurpose = 'master key' | 'token pepper'

/**
 * `missing`: the file does not exist · `unreadable`: it exists but cannot be read · `damaged`: its
 * content is not a key · `wrong`: a valid key file, but not the one of this database.
 */
export type KeyFileFailure = 'missing' | 'unreadable' | 'damaged' | 'wrong'

/** A problem with a key file. `message` names the file, says what to do, and can be printed. */
export class KeyFileError extends Error {
  readonly reason: KeyFileFailure
  readonly file: string

  constructor(reason: KeyFileFailure, file: string, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.name = 'KeyFileError'
    this.reason = reason
    this.file = file
  }
}

const header = (purpose: KeyPurpose): string => `quayside ${purpose}, version 1`

/** The file of the next key, beside the key file. */
export const nextKeyFile = (file: string): string => `${file}.next`

/** Returns the 32 bytes of the file. Throws KeyFileError (`missing`, `unreadable`, `damaged`). */
export async function readKeyFile(file: string, purpose: KeyPurpose): Promise<Buffer> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT')
      throw new KeyFileError(
        'missing',
        file,
        `there is no ${purpose} file ${file}, but the database was used with one: restore it from a backup`,
        { cause },
      )
    throw new KeyFileError('unreadable', file, `the ${purpose} file ${file} cannot be read: ${messageOf(cause)}`, {
      cause,
    })
  })
  const [first, key, ...rest] = text.trimEnd().split(/\r?\n/)
  if (first !== header(purpose) || key === undefined || !/^[A-Za-z0-9_-]{43}$/.test(key) || rest.length > 0)
    throw new KeyFileError('damaged', file, `the file ${file} does not hold a ${purpose}: restore it from a backup`)
  return Buffer.from(key, 'base64url')
}

/**
 * Creates the file with a new key and returns its bytes. The file is written atomically, only its
 * owner can read it, and it is flushed to disk when this returns. Fails if the file already exists.
 */
export async function makeKeyFile(file: string, purpose: KeyPurpose): Promise<Buffer> {
  const bytes = randomBytes(32)
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  const draft = `${file}.${randomUUID()}.new`
  try {
    const handle = await open(draft, 'wx', 0o600)
    try {
      await handle.writeFile(`${header(purpose)}\n${bytes.toString('base64url')}\n`)
      await handle.sync()
    } finally {
      await handle.close()
    }
    // Unlike a rename, a link fails if the name exists.
    await link(draft, file)
  } catch (cause) {
    const message = `the ${purpose} file ${file} cannot be made: ${messageOf(cause)}`
    throw new KeyFileError('unreadable', file, message, { cause })
  } finally {
    await rm(draft, { force: true })
  }
  await syncDirectory(dirname(file))
  return bytes
}

/** Replaces one key file with another, atomically. The other file no longer exists afterwards. */
export async function replaceKeyFile(file: string, by: string): Promise<void> {
  await rename(by, file)
  await syncDirectory(dirname(file))
}
