import { readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { lockDataDirectory } from './data-directory.mjs'
import { isAlive, signal, waitUntil } from './end-process.mjs'
import { codeOf } from './error-code.mjs'
import { findHolder } from './lock-holder.mjs'
import { Refusal } from './progress.mjs'
import { readIfThere } from './system.mjs'

/** Time for open requests, backups and PostgreSQL to end. */
const serverMs = 120_000
/** How often the holder of the lock is looked for in vain before it must be another user's. */
const hiddenLimit = 100
/** The router finishes what is open for at most 30 s. */
const routerMs = 40_000

/**
 * Ends the server, the router and PostgreSQL of a data directory, and nothing else: each proves by a lock, a socket or its working
 * directory that it belongs to it. Returns the lock, which keeps a server from starting until it is closed, and the names of
 * what was ended.
 * @param {string} directory
 */
export async function stopInstallation(directory) {
  const { lock, wasRunning } = await takeLock(directory)
  try {
    const ended = wasRunning ? ['server'] : []
    if (await endRouters(join(directory, 'router'))) ended.push('router')
    if (await endDatabase(join(directory, 'postgresql'))) ended.push('PostgreSQL')
    return { lock, ended }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Ends the server that has the lock. Another `npm stop` is waited for.
 * @param {string} directory
 */
async function takeLock(directory) {
  /** @type {Set<number>} */
  const asked = new Set()
  /** @type {import('node:net').Server | undefined} */
  let lock
  let hiddenLooks = 0
  const isTaken = async () => {
    lock = await lockDataDirectory(directory)
    if (lock) return true
    const holder = findHolder(directory)
    if (!holder) return false
    // A process that is just ending is not seen either.
    hiddenLooks = holder.pid === undefined ? hiddenLooks + 1 : 0
    if (holder.pid === undefined && hiddenLooks < hiddenLimit) return false
    // A process that is just ending holds the lock for a moment longer, and has no command line any more.
    if (holder.pid !== undefined && commandLine(holder.pid) === '') return false
    refuseForeign(holder, directory)
    if (holder.pid === undefined || holder.command !== 'server' || asked.has(holder.pid)) return false
    if (asked.size > 0) throw new Refusal(startedAgain(directory))
    asked.add(holder.pid)
    signal(holder.pid, 'SIGTERM')
    return false
  }
  if ((await waitUntil(isTaken, serverMs)) && lock) return { lock, wasRunning: asked.size > 0 }
  const pid = findHolder(directory)?.pid
  throw new Refusal(
    `The server of ${directory} (process ${pid}) did not end within ${serverMs / 1000} s; its log says why. If it hangs, end it with "kill -9 ${pid}", and give the command again.`,
  )
}

/** @param {string} directory */
const startedAgain = (directory) =>
  `The server of ${directory} was stopped, and something started it again. Stop it there: with systemd, "systemctl stop" and the name of its unit.`

/**
 * @param {import('./lock-holder.mjs').Holder} holder
 * @param {string} directory
 */
function refuseForeign({ pid, command }, directory) {
  if (pid === undefined) {
    throw new Refusal(`${directory} is in use by a process of another user. Give the command as that user, or as root.`)
  }
  if (command === undefined) {
    throw new Refusal(
      `${directory} is in use by process ${pid}, which is not a server: ${commandLine(pid)}. Wait until it has ended, and give the command again.`,
    )
  }
}

/** @param {number} pid */
const commandLine = (pid) => readIfThere(`/proc/${pid}/cmdline`).split('\0').join(' ').trim()

/**
 * The router, and one that waits to take over.
 * @param {string} directory
 */
async function endRouters(directory) {
  const sockets = namesIn(directory).filter((name) => name === 'control.sock' || name.startsWith('next-'))
  let isEnded = false
  for (const socketPath of sockets.map((name) => join(directory, name))) {
    const pid = (await askRouter(socketPath, 'GET', '/health'))?.pid
    if (pid === undefined) continue
    await askRouter(socketPath, 'POST', '/shutdown')
    if (!(await waitUntil(() => !isAlive(pid), routerMs))) {
      throw new Refusal(
        `The router (process ${pid}) did not end within ${routerMs / 1000} s. End it with "kill ${pid}".`,
      )
    }
    isEnded = true
  }
  return isEnded
}

/**
 * Returns the router's answer; undefined if no router listens on the socket.
 * @param {string} socketPath
 * @param {string} method
 * @param {string} path
 * @returns {Promise<{ pid?: number } | undefined>}
 */
function askRouter(socketPath, method, path) {
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, method, path, timeout: 5000 }, async (answer) => {
      let text = ''
      for await (const part of answer.setEncoding('utf8')) text += part
      resolve(JSON.parse(text || '{}'))
    })
    outgoing.on('timeout', () => outgoing.destroy(new Refusal(`The router at ${socketPath} does not answer.`)))
    outgoing.on('error', (error) =>
      ['ENOENT', 'ECONNREFUSED', 'ECONNRESET'].includes(codeOf(error) ?? '') ? resolve(undefined) : reject(error),
    )
    outgoing.end()
  })
}

/**
 * Where the database of a data directory is: there, or where a file says.
 * @param {string} directory
 */
export const databaseHome = (directory) => readIfThere(join(directory, 'location')).trim() || directory

/** Ends PostgreSQL: first with open transactions rolled back, then at once. */
const databaseSignals = /** @type {const} */ ([
  { name: 'SIGINT', limitMs: 20_000 },
  { name: 'SIGQUIT', limitMs: 10_000 },
])

/**
 * One that a killed server left.
 * @param {string} directory
 */
async function endDatabase(directory) {
  const cluster = join(databaseHome(directory), 'cluster')
  const pid = Number(readIfThere(join(cluster, 'postmaster.pid')).split('\n')[0])
  if (!servesCluster(pid, cluster)) return false
  for (const { name, limitMs } of databaseSignals) {
    signal(pid, name)
    if (await waitUntil(() => !servesCluster(pid, cluster), limitMs)) return true
  }
  throw new Refusal(`PostgreSQL (process ${pid}) did not end. Its log is postgresql.log in ${databaseHome(directory)}.`)
}

/**
 * Process ids are used again: this one works in the directory.
 * @param {number} pid
 * @param {string} cluster
 */
function servesCluster(pid, cluster) {
  if (!(pid > 1) || !isAlive(pid)) return false
  try {
    return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(cluster)
  } catch {
    return false
  }
}

/** @param {string} directory */
function namesIn(directory) {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
    return []
  }
}
