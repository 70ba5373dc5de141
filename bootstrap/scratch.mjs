import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { isAlive } from './end-process.mjs'
import { messageOf } from './error-code.mjs'

const inMemory = '/dev/shm'
/** Tests use less than a tenth of it at any moment. */
const leastBytes = 4 * 1024 ** 3
const prefix = 'quayside-tests-'

/**
 * Makes a directory in memory for the temporary files of a test run. Each test's database has
 * hundreds of files, and creating them on a disk can take a hundred times as long. Returns
 * undefined if memory is short or has no file system.
 */
export function openScratch(parent = inMemory) {
  if (!isUsable(parent)) return undefined
  removeLeftovers(parent)
  // Every user may write there, so the name must not be predictable.
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  // If root runs the tests, databases run as another user.
  chmodSync(path, 0o711)
  return { path, remove: () => removeOrSay(path) }
}

/**
 * A failure does not fail the tests: the next run removes the directory.
 * @param {string} path
 */
function removeOrSay(path) {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5 })
  } catch (error) {
    console.error(`${path} could not be removed: ${messageOf(error)}`)
  }
}

/** @param {string} parent */
function isUsable(parent) {
  try {
    const { bavail, bsize } = statfsSync(parent)
    return (
      Math.min(bavail * bsize, freemem()) >= leastBytes &&
      mayRunPrograms(parent, readFileSync('/proc/self/mounts', 'utf8'))
    )
  } catch {
    // This system has no file system in memory.
    return false
  }
}

/**
 * Pure: whether a mount allows programs, which tests write and start. `mounts` is the text of
 * /proc/self/mounts.
 * @param {string} place
 * @param {string} mounts
 */
export function mayRunPrograms(place, mounts) {
  const options = mounts
    .split('\n')
    .map((line) => line.split(' '))
    .findLast(([, at]) => at === place)?.[3]
  return options === undefined || !options.split(',').includes('noexec')
}

/**
 * Removes the directories of killed runs of this user.
 * @param {string} parent
 */
function removeLeftovers(parent) {
  for (const name of readdirSync(parent)) {
    const pid = Number(name.startsWith(prefix) ? name.slice(prefix.length).split('-')[0] : Number.NaN)
    const path = join(parent, name)
    if (Number.isInteger(pid) && !isAlive(pid) && isOwn(path)) removeOrSay(path)
  }
}

/** @param {string} path */
const isOwn = (path) => lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()
