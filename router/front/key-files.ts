import { createHash } from 'node:crypto'
import { lstat, mkdtemp, readdir, rm, statfs, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ServedCertificate } from '../certificates.ts'
import { lineOf, nameOfCertificate, pemOf } from './tls-store.ts'

/** The RAM disk of Linux. Its files never reach a disk, except by swapping. */
const ramDisk = '/dev/shm'
/** The type of such a file system. */
const tmpfs = 0x01021994
const atOnce = 64

/** Certificates with their keys in files, for a program that starts. */
export interface KeyFiles {
  /** The line of each file with its host, by the name of the certificate. */
  readonly lines: ReadonlyMap<string, string>
  /** Must be called once the program has read them. */
  remove(): Promise<void>
}

/** How the paths of an installation's folders with keys begin. `owner` is a path that names it. */
export const keyFolderPrefix = (owner: string, disk = ramDisk): string =>
  join(disk, `quayside-keys-${createHash('sha256').update(owner).digest('hex').slice(0, 16)}-`)

/**
 * Writes certificates to files that only this user may read, on a RAM disk. `owner` is a path that
 * names the installation: files that a killed process left for it are removed first. Undefined
 * without a RAM disk.
 */
export async function writeKeyFiles(
  certificates: readonly ServedCertificate[],
  owner: string,
  disk = ramDisk,
): Promise<KeyFiles | undefined> {
  if (!(await isRamDisk(disk))) return undefined
  const prefix = keyFolderPrefix(owner, disk)
  await removeLeft(prefix)
  const folder = await mkdtemp(prefix)
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true })
  const lines = new Map<string, string>()
  const write = async (one: ServedCertificate): Promise<void> => {
    const name = nameOfCertificate(one)
    const path = join(folder, name)
    lines.set(name, lineOf(path, one))
    await writeFile(path, pemOf(one), { mode: 0o600, flag: 'wx' })
  }
  try {
    for (let at = 0; at < certificates.length; at += atOnce) {
      await Promise.all(certificates.slice(at, at + atOnce).map(write))
    }
    return { lines, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

async function isRamDisk(path: string): Promise<boolean> {
  try {
    return (await statfs(path)).type === tmpfs
  } catch {
    // A container may have none. The certificates then go over HAProxy's socket.
    return false
  }
}

async function removeLeft(prefix: string): Promise<void> {
  const disk = dirname(prefix)
  for (const name of await readdir(disk)) {
    if (!name.startsWith(basename(prefix))) continue
    // Everybody may create files there. Other people's files stay.
    const isOwn = (await lstat(join(disk, name))).uid === process.getuid?.()
    if (isOwn) await rm(join(disk, name), { recursive: true, force: true })
  }
}
