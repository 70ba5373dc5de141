import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { lockDataDirectory, lockName, ownerOf } from './data-directory.mjs'
import { codeOf } from './error-code.mjs'
import { Refusal } from './progress.mjs'
import { readIfThere } from './system.mjs'

/** @typedef {{ pid: number | undefined, command: 'server' | 'stop' | undefined }} Holder */

/**
 * Finds the process that holds the lock of a data directory, by the sockets that the kernel lists.
 * Returns undefined if nobody holds it. `pid` is undefined for a process of another user. Throws a
 * Refusal if two processes seem to hold it.
 *
 * Names of sockets may contain spaces and line breaks, so any user can add a row to the list that
 * looks like the lock. That is why only processes of root and of the directory's owner count.
 * @param {string} directory
 * @returns {Holder | undefined}
 */
export const findHolder = (directory, proc = '/proc') => holderOf(`@${lockName(directory)}`, directory, proc)

/**
 * Throws a Refusal if servers share the data directory. Each of them has the lock of its own port,
 * whose name begins with that of the directory's lock.
 * @param {string} directory
 */
export function refuseSharers(directory, proc = '/proc') {
  const lock = `@${lockName(directory)}`
  const sharers = parseParts(readFileSync(`${proc}/net/unix`, 'utf8'), lock).flatMap((port) => {
    const holder = holderOf(`${lock}.${port}`, directory, proc)
    if (!holder) return []
    return [`${holder.pid === undefined ? 'a process of another user' : `process ${holder.pid}`} (port ${port})`]
  })
  if (sharers.length === 0) return
  throw new Refusal(
    `These servers share ${directory}: ${sharers.join(', ')}. End each of them with "kill" and the number of its ` +
      'process, and try again. Services keep running.',
  )
}

/**
 * Takes the lock of a data directory. Throws a Refusal if a server holds it, or shares the
 * directory.
 * @param {string} directory
 */
export async function mustLock(directory) {
  refuseSharers(directory)
  const lock = await lockDataDirectory(directory)
  if (lock) return lock
  throw new Refusal(`A server is using ${directory}. Stop it with npm stop, and try again. Services keep running.`)
}

/**
 * @param {string} name
 * @param {string} directory
 * @param {string} proc
 * @returns {Holder | undefined}
 */
function holderOf(name, directory, proc) {
  const inodes = parseInodes(readFileSync(`${proc}/net/unix`, 'utf8'), name)
  if (inodes.length === 0) return undefined
  const users = [0, ownerOf(directory)]
  const holders = readdirSync(proc)
    .filter((one) => /^\d+$/.test(one))
    .filter((one) => hasSocket(`${proc}/${one}/fd`, inodes))
    .map((one) => ({ pid: Number(one), status: readIfThere(`${proc}/${one}/status`) }))
    .filter(({ status }) => users.includes(parseUser(status)))
  const pids = holders.map(({ pid }) => pid)
  // A child has the sockets of its parent from its fork to its exec.
  const [pid, other] = holders.filter(({ status }) => !pids.includes(parseParent(status))).map(({ pid }) => pid)
  if (other !== undefined) {
    throw new Refusal(
      `Processes ${pid} and ${other} both seem to hold the lock of ${directory}. ` +
        `/proc/net/unix lists ${name} for both. ` +
        'Look there for a socket whose path contains that name, and end its process.',
    )
  }
  return { pid, command: pid === undefined ? undefined : commandOf(readIfThere(`${proc}/${pid}/cmdline`)) }
}

/**
 * Pure: the inodes of all rows that end with this name, from the text of /proc/net/unix.
 * @param {string} text
 * @param {string} name
 */
export function parseInodes(text, name) {
  const rows = text.split('\n').filter((line) => line.endsWith(` ${name}`))
  return [...new Set(rows.flatMap((row) => row.trim().split(/\s+/)[6] ?? []))]
}

/**
 * Pure: the numbers behind this name and a full stop, from the text of /proc/net/unix.
 * @param {string} text
 * @param {string} name
 */
export function parseParts(text, name) {
  const rows = text.split('\n').flatMap((line) => line.split(` ${name}.`)[1] ?? [])
  return [...new Set(rows.filter((row) => /^\d{1,5}$/.test(row)))].sort((a, b) => Number(a) - Number(b))
}

/**
 * Pure: who started a process, from the text of /proc/<pid>/status. The owner of /proc/<pid> may be
 * another one.
 * @param {string} text
 */
export const parseUser = (text) => Number(/^Uid:\t(\d+)/m.exec(text)?.[1])

/**
 * Pure: the parent of a process, from the text of /proc/<pid>/status.
 * @param {string} text
 */
export const parseParent = (text) => Number(/^PPid:\t(\d+)/m.exec(text)?.[1])

/**
 * Pure: what a process is, from the text of /proc/<pid>/cmdline.
 * @param {string} commandLine
 * @returns {'server' | 'stop' | undefined}
 */
export function commandOf(commandLine) {
  const words = commandLine.split('\0')
  if (words.some((word) => word.endsWith('/server/main.ts'))) return 'server'
  if (words.some((word) => /(?:^|\/)bootstrap\/(?:stop|uninstall)\.mjs$/.test(word))) return 'stop'
  return undefined
}

/**
 * @param {string} directory
 * @param {string[]} inodes
 */
function hasSocket(directory, inodes) {
  const links = new Set(inodes.map((inode) => `socket:[${inode}]`))
  try {
    return readdirSync(directory).some((fd) => links.has(linkOf(`${directory}/${fd}`) ?? ''))
  } catch (error) {
    // It ended meanwhile, or belongs to another user.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** @param {string} path */
function linkOf(path) {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
