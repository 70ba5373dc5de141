import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atEnd } from '../../test/support/at-end.ts'
import { until as untilOf } from '../../test/support/until.ts'
import type { Cleanup } from './testing.ts'

/** The same as in all tests, but with a shorter interval. */
export const until: typeof untilOf = (what, ask, options) => untilOf(what, ask, { everyMs: 10, ...options })

/** Creates a directory that is removed with the test. */
export async function temporaryDirectory(t: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-database-'))
  atEnd(t, () => rm(directory, { recursive: true, force: true }))
  return directory
}

/** The same, at a path that PostgreSQL's user can reach. */
export async function reachableDirectory(t: Cleanup): Promise<string> {
  const directory = await temporaryDirectory(t)
  await chmod(directory, 0o711)
  return directory
}
