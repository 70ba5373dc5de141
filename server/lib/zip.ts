import { strToU8, zipSync } from 'fflate'

/** A few small files as one zip archive, each deflated; names with `/` are in directories. For files of less than 4 GiB together. */
export const zip = (files: Readonly<Record<string, string>>, at: Date): Buffer =>
  Buffer.from(
    zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])), { mtime: at }),
  )
