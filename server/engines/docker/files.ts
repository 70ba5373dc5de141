import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { Secret } from '../../lib/secret.ts'
import type { InputFile, MountedFile } from '../engine.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { placeOf } from './read-only-root.ts'

interface Written {
  readonly files: readonly WrittenFile[]
  /** Directories that are created if they are missing. Every user may write to them. */
  readonly openDirectories?: readonly string[]
  /** The paths at which the container is writable. */
  readonly places: readonly string[]
}

/**
 * Writes the files into a container that has not started yet, straight from memory, so no copy of
 * ours touches the host's disk. They belong to root with mode 0444: the program often runs as a
 * user that only the image knows, and may read but not change them. Each place takes one archive.
 */
export async function writeFiles(
  daemon: DockerDaemon,
  container: string,
  { files, openDirectories = [], places }: Written,
  signal: AbortSignal,
): Promise<void> {
  const inPlaces = Map.groupBy(files, ({ path }) => placeOf(path, places))
  const openIn = Map.groupBy(openDirectories, (directory) => placeOf(directory, places))
  for (const place of new Set([...inPlaces.keys(), ...openIn.keys()])) {
    const [inside, open] = [inPlaces.get(place) ?? [], openIn.get(place) ?? []]
    const top = place === '/' ? '' : place
    const missing: string[] = []
    for (const directory of parentDirectories(inside)) {
      // Existing directories must not be in the archive: it would change their owner and mode.
      const isBelow = directory.startsWith(`${top}/`) && !open.includes(directory)
      if (isBelow && !(await exists(daemon, container, directory, signal))) missing.push(directory)
    }
    await daemon.send({
      method: 'PUT',
      path: `/containers/${container}/archive`,
      query: { path: place },
      file: await archive(top, { missing, open }, inside),
      signal,
      timeoutMs: 60_000,
    })
  }
}

/** Returns every directory above the files except the root, outer ones first. */
export function parentDirectories(files: readonly Pick<MountedFile, 'path'>[]): string[] {
  const directories = new Set<string>()
  for (const { path } of files) {
    const parts = path.split('/').slice(1, -1)
    parts.forEach((_, index) => {
      directories.add(`/${parts.slice(0, index + 1).join('/')}`)
    })
  }
  return [...directories].sort()
}

type WrittenFile = MountedFile | InputFile

async function archive(
  top: string,
  { missing, open }: { readonly missing: readonly string[]; readonly open: readonly string[] },
  files: readonly WrittenFile[],
): Promise<Buffer> {
  const tar = pack()
  const nameOf = (path: string): string => path.slice(top.length + 1)
  // Outer directories come first.
  for (const directory of [...missing, ...open].sort()) {
    // A place may be open itself.
    const name = directory === top ? './' : `${nameOf(directory)}/`
    tar.entry({ name, type: 'directory', mode: open.includes(directory) ? 0o777 : 0o755 })
  }
  for (const { path, content } of files) {
    tar.entry({ name: nameOf(path), mode: 0o444 }, bytesOf(content))
  }
  tar.finalize()
  return buffer(tar)
}

const bytesOf = (content: WrittenFile['content']): Buffer =>
  Buffer.from(content instanceof Secret ? content.reveal() : content)

async function exists(daemon: DockerDaemon, container: string, path: string, signal: AbortSignal): Promise<boolean> {
  try {
    await daemon.send({ method: 'HEAD', path: `/containers/${container}/archive`, query: { path }, signal })
    return true
  } catch (error) {
    if (isRefusal(error, 404)) return false
    throw error
  }
}
