import { rm } from 'node:fs/promises'
import { systemClock } from '../lib/clock.ts'
import { exclusively, tryLock } from './exclusive.ts'
import { openDatabase } from './pool.ts'
import { startTestServer, testDirectory, testLock, watchdogLock } from './testing.ts'

// Started by tests and outlives them: stops the tests' PostgreSQL and removes its directory when it
// was unused for a minute.

const idleLimitMs = 60_000
const url = process.argv[2]
const lock = await tryLock(watchdogLock)
if (url && lock) await watchUntilIdle(url)
lock?.close()

async function watchUntilIdle(url: string): Promise<void> {
  let idleSince = systemClock.monotonic()
  for (;;) {
    await systemClock.sleep(5_000)
    const users = await countUsers(url)
    if (users === undefined) return
    if (users > 0) idleSince = systemClock.monotonic()
    if (systemClock.monotonic() - idleSince >= idleLimitMs && (await endUnlessUsed(url))) return
  }
}

/** Runs under the lock under which tests connect, so the next test starts a new server. */
const endUnlessUsed = (url: string): Promise<boolean> =>
  exclusively(testLock, async () => {
    const users = await countUsers(url)
    if (users === undefined || users > 0) return users === undefined
    const server = await startTestServer()
    await server.stop()
    await rm(testDirectory, { recursive: true, force: true })
    return true
  })

/** The number of connections other than our own, or undefined if the server has ended. */
async function countUsers(url: string): Promise<number | undefined> {
  const db = openDatabase({ url, max: 1, name: 'test watchdog' })
  try {
    const [row] = await db<{ users: number }[]>`
      select count(*)::int as users from pg_stat_activity
      where backend_type = 'client backend' and application_name <> 'test watchdog'`
    return row?.users
  } catch {
    return undefined
  } finally {
    await db.end({ timeout: 1 })
  }
}
