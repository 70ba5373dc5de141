import type { Header } from 'tar-stream'
import { systemClock } from '../lib/clock.ts'
import type { Ignorer } from './ignore-file.ts'

/** Other work of the server runs after this many steps. */
const stepsPerTurn = 100_000

/**
 * Chooses the archive entries that a build gets. For a kept entry, returns the headers of excluded
 * directories above it, to be written first. For an excluded entry, returns undefined.
 */
export function keptEntries(
  ignorer: Ignorer | undefined,
): (header: Header, path: string) => Promise<readonly Header[] | undefined> {
  let held: { readonly header: Header; readonly path: string }[] = []
  let turnEnd = stepsPerTurn
  return async (header, path) => {
    if (!ignorer || path === '') return []
    held = held.filter((directory) => path.startsWith(`${directory.path}/`))
    const isExcluded = ignorer.excludes(path)
    if (ignorer.work > turnEnd) {
      await systemClock.sleep(0)
      turnEnd = ignorer.work + stepsPerTurn
    }
    if (isExcluded) {
      if (header.type === 'directory') held.push({ header, path })
      return undefined
    }
    return held.splice(0).map((directory) => directory.header)
  }
}
