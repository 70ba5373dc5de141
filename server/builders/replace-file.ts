import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { extract, type Header, pack } from 'tar-stream'
import type { Ignorer } from './ignore-file.ts'
import { keptEntries } from './kept-entries.ts'

/**
 * Returns the archive with other content for one file. The file comes last, so it overwrites
 * whatever else leads to its path. `addsIt` adds the file if the archive lacks it. Entries that the
 * ignorer excludes are left out, except that file.
 */
export function replaceFile(
  archive: Readable,
  path: string,
  content: string,
  { addsIt = false, ignorer }: { readonly addsIt?: boolean; readonly ignorer?: Ignorer | undefined } = {},
): Readable {
  const packed = pack()
  const wanted = plainPath(path)
  let former: Header | undefined
  let isBehindLink = false
  const kept = keptEntries(ignorer)
  const copy = async (): Promise<void> => {
    for await (const entry of archive.pipe(extract())) {
      const { header } = entry
      const name = plainPath(header.name)
      if (header.type === 'symlink' && wanted.startsWith(`${name}/`)) isBehindLink = true
      if (name === wanted) {
        former = header
        entry.resume()
        continue
      }
      const directories = await kept(header, name)
      if (!directories) {
        entry.resume()
      } else {
        for (const directory of directories) packed.entry(directory)
        await pipeline(entry, packed.entry(header))
      }
    }
    if (former || addsIt || isBehindLink) packed.entry(headerOf(path, former), content)
    packed.finalize()
  }
  archive.once('error', (error) => packed.destroy(error))
  copy().catch((error: unknown) => packed.destroy(error instanceof Error ? error : new Error(String(error))))
  return Readable.from(packed)
}

const plainPath = (path: string): string =>
  path
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')

const headerOf = (path: string, former: Header | undefined): { name: string; mode: number; mtime?: Date } => ({
  name: former?.type === 'file' ? former.name : path,
  mode: (former?.type === 'file' && former.mode) || 0o644,
  ...(former?.mtime && { mtime: former.mtime }),
})
