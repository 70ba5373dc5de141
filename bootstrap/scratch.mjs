import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { freemem } from 'node:os'
import { join } from 'node:path'
import { codeOf, messageOf } from './error-code.mjs'

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
  // Everybody may write there: the name is one that nobody knows beforehand.
  const path = mkdtempSync(join(parent, `${prefix}${process.pid}-`))
  // Databases run as another user where the tests are run by root.
  chmodSync(path, 0o711)
  return { path, remove: () => removeOrSay(path) }
}

/**
 * What cannot be removed says nothing of the tests, and goes with the next run.
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
    // Other systems have no such place.
    return false
  }
}

/**
 * Pure: tests start programs that they wrote. `mounts` as in /proc/self/mounts; the last one of a place counts.
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
 * Of this user's runs that were killed.
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

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: it runs, as somebody else.
    return codeOf(error) !== 'ESRCH'
  }
}
