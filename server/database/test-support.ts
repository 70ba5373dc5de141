import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../lib/clock.ts'
import type { Cleanup } from './testing.ts'

/** Waits until the condition holds; fails after the limit. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  limitMs = 60_000,
): Promise<void> {
  const end = systemClock.monotonic() + limitMs
  while (!(await condition())) {
    if (systemClock.monotonic() > end) throw new Error(`not within ${limitMs} ms: ${what}`)
    await systemClock.sleep(10)
  }
}

/** A directory that is removed with the test. */
export async function temporaryDirectory(t: Cleanup): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'quayside-database-'))
  t.after(() => rm(directory, { recursive: true, force: true }))
  return directory
}

/** The same, where PostgreSQL's user can get to. */
export async function reachableDirectory(t: Cleanup): Promise<string> {
  const directory = await temporaryDirectory(t)
  await chmod(directory, 0o711)
  return directory
}
