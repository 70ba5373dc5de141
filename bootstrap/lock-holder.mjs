import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { lockName } from './data-directory.mjs'
import { readIfThere } from './system.mjs'

/**
 * Finds the process that holds the lock of a data directory. The kernel lists which process has the socket, so no other process
 * can be taken for it. Returns undefined if nobody holds the lock, else
 * `{ pid, command: 'server' | 'stop' | undefined }`; `pid` is undefined for a process of another user.
 */
export function findHolder(directory, proc = '/proc') {
  const inode = parseInode(readFileSync(`${proc}/net/unix`, 'utf8'), `@${lockName(directory)}`)
  if (inode === undefined) return undefined
  const pid = readdirSync(proc)
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((one) => hasSocket(`${proc}/${one}/fd`, inode))
  return { pid, command: pid && commandOf(readIfThere(`${proc}/${pid}/cmdline`)) }
}

/** Pure: the inode of the socket of that name, from the text of /proc/net/unix. */
export function parseInode(text, name) {
  const row = text.split('\n').find((line) => line.endsWith(` ${name}`))
  return row?.trim().split(/\s+/)[6]
}

/** Pure: what a process is, from the text of /proc/<pid>/cmdline. */
export function commandOf(commandLine) {
  const words = commandLine.split('\0')
  if (words.some((word) => word.endsWith('/server/main.ts'))) return 'server'
  if (words.some((word) => /(?:^|\/)bootstrap\/(?:stop|uninstall)\.mjs$/.test(word))) return 'stop'
  return undefined
}

function hasSocket(directory, inode) {
  try {
    return readdirSync(directory).some((fd) => linkOf(`${directory}/${fd}`) === `socket:[${inode}]`)
  } catch (error) {
    // It ended meanwhile, or belongs to another user.
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(error.code)) return false
    throw error
  }
}

function linkOf(path) {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
