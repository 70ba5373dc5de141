import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { Secret } from '../../lib/secret.ts'
import type { InputFile, MountedFile } from '../engine.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { placeOf } from './read-only-root.ts'

/**
 * Writes the files into a container that has not started yet, straight from memory, so no copy of
 * ours touches the host's disk. They belong to root with mode 0444: the program often runs as a
 * user that only the image knows, and may read but not change them. `places` are the paths at which
 * the container is writable.
 */
export async function writeFiles(
  daemon: DockerDaemon,
  container: string,
  { files, places }: { readonly files: readonly WrittenFile[]; readonly places: readonly string[] },
  signal: AbortSignal,
): Promise<void> {
  for (const [place, inside] of Map.groupBy(files, ({ path }) => placeOf(path, places))) {
    const top = place === '/' ? '' : place
    const missing: string[] = []
    for (const directory of parentDirectories(inside)) {
      // Existing directories must not be in the archive: it would change their owner and mode.
      const isBelow = directory.startsWith(`${top}/`)
      if (isBelow && !(await exists(daemon, container, directory, signal))) missing.push(directory)
    }
    await daemon.send({
      method: 'PUT',
      path: `/containers/${container}/archive`,
      query: { path: place },
      file: await archive(top, missing, inside),
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

async function archive(top: string, directories: readonly string[], files: readonly WrittenFile[]): Promise<Buffer> {
  const tar = pack()
  const nameOf = (path: string): string => path.slice(top.length + 1)
  for (const directory of directories) tar.entry({ name: `${nameOf(directory)}/`, type: 'directory', mode: 0o755 })
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
