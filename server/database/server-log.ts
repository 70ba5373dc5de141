import { constants } from 'node:fs'
import { copyFile, open, readFile, stat, truncate } from 'node:fs/promises'

const largestBytes = 10 * 1024 * 1024

/** Opens PostgreSQL's log for appending; the caller closes it. */
export const openServerLog = (path: string) =>
  open(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW, 0o600)

/**
 * Keeps the log below twice 10 MB by moving its content to `<path>.1`. The file is emptied in
 * place, because PostgreSQL keeps it open. Lines that are written at exactly that moment may be
 * lost.
 */
export async function rotateServerLog(path: string, limitBytes: number = largestBytes): Promise<void> {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  if (size <= limitBytes) return
  await copyFile(path, `${path}.1`)
  await truncate(path)
}

/** Returns the last lines, for an error message. */
export async function tailOfServerLog(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.slice(-2000).split('\n').slice(-8).join('\n').trim()
}
