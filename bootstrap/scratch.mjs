import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'

const inMemory = '/dev/shm'
/** Tests leave less than a tenth of it at any moment. */
const leastBytes = 4 * 1024 ** 3
const prefix = 'quayside-tests-'

/**
 * A directory in memory for the temporary files of a run of tests: each test's database consists of hundreds of files, and making files on a
 * disk can take a hundred times as long. Undefined where there is no such place, or not enough of it. `remove` ends it.
 */
export function openScratch(parent = inMemory) {
  if (!isUsable(parent)) return undefined
  removeLeftovers(parent)
  const path = join(parent, `${prefix}${process.pid}`)
  // Databases run as another user where the tests are run by root.
  mkdirSync(path, { mode: 0o711 })
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

function isUsable(parent) {
  try {
    const { bavail, bsize } = statfsSync(parent)
    return (
      Math.min(bavail * bsize, freemem()) >= leastBytes &&
      mayRunPrograms(parent, readFileSync('/proc/self/mounts', 'utf8'))
    )
  } catch {
    // Other systems have no such place.
    return false
  }
}

/** Pure: tests start programs that they wrote. `mounts` as in /proc/self/mounts; the last one of a place counts. */
export function mayRunPrograms(place, mounts) {
  const options = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, at]) => at === place)?.[3]
  return options === undefined || !options.split(',').includes('noexec')
}

/** Of runs that were killed. */
function removeLeftovers(parent) {
  for (const name of readdirSync(parent)) {
    const pid = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN
    if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(parent, name), { recursive: true, force: true })
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return error.code !== 'ESRCH'
  }
}
