import { readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { lockDataDirectory } from './data-directory.mjs'
import { endHaproxy } from './end-haproxy.mjs'
import { isAlive, signal, waitUntil } from './end-process.mjs'
import { codeOf } from './error-code.mjs'
import { findHolder, refuseSharers } from './lock-holder.mjs'
import { Refusal } from './progress.mjs'
import { readIfThere } from './system.mjs'

/** How long open requests, backups and PostgreSQL may take to end. */
const serverMs = 120_000
/** After this many failed look-ups, the holder of the lock is a process of another user. */
const hiddenLimit = 100
/** The router finishes what is open for at most 30 s. */
const routerMs = 40_000

/**
 * Ends the server, the router, HAProxy and PostgreSQL of a data directory. Each is recognized by
 * its lock, its socket or its working directory, so nothing else is ended. Returns the lock and the
 * names of what was ended. No server can start until the lock is closed.
 * @param {string} directory
 */
export async function stopInstallation(directory) {
  const { lock, wasRunning } = await takeLock(directory)
  try {
    const ended = wasRunning ? ['server'] : []
    if (await endRouters(join(directory, 'router'))) ended.push('router')
    if (await endHaproxy(join(directory, 'router'))) ended.push('HAProxy')
    if (await endDatabase(join(directory, 'postgresql'))) ended.push('PostgreSQL')
    return { lock, ended }
  } catch (error) {
    lock.close()
    throw error
  }
}

/**
 * Ends the server that holds the lock, and takes the lock. Waits for another `npm stop`.
 * @param {string} directory
 */
async function takeLock(directory) {
  refuseSharers(directory)
  const askHolder = createAsker(directory)
  /** @type {import('node:net').Server | undefined} */
  let lock
  let wasRunning = false
  const isTaken = async () => {
    lock = await lockDataDirectory(directory)
    if (lock) return true
    if (askHolder()) wasRunning = true
    return false
  }
  if ((await waitUntil(isTaken, serverMs)) && lock) return { lock, wasRunning }
  throw new Refusal(stillRunning(directory, findHolder(directory)?.pid))
}

/**
 * Returns a function that asks the holder of the lock to end, once for each process. It returns
 * true when it asked a server, and throws a Refusal if the holder is not a server of this user's.
 * @param {string} directory
 */
function createAsker(directory) {
  /** @type {Set<number>} */
  const asked = new Set()
  let hiddenLooks = 0
  return () => {
    const holder = findHolder(directory)
    if (!holder) return false
    // A process that is ending may be hidden for a moment, like a process of another user.
    hiddenLooks = holder.pid === undefined ? hiddenLooks + 1 : 0
    if (holder.pid === undefined && hiddenLooks < hiddenLimit) return false
    // A process that is ending holds the lock a moment longer, without a command line.
    if (holder.pid !== undefined && commandLine(holder.pid) === '') return false
    refuseForeign(holder, directory)
    if (holder.pid === undefined || holder.command !== 'server' || asked.has(holder.pid)) return false
    if (asked.size > 0) throw new Refusal(startedAgain(directory))
    asked.add(holder.pid)
    signal(holder.pid, 'SIGTERM')
    return true
  }
}

/**
 * @param {string} directory
 * @param {number | undefined} pid
 */
const stillRunning = (directory, pid) =>
  `The server of ${directory} (process ${pid}) did not end within ${serverMs / 1000} s. Its log says why. ` +
  `If it hangs, end it with "kill -9 ${pid}" and try again.`

/** @param {string} directory */
const startedAgain = (directory) =>
  `The server of ${directory} was stopped, and something started it again. Stop it there. ` +
  'With systemd, run "systemctl stop" with the name of its unit.'

/**
 * @param {import('./lock-holder.mjs').Holder} holder
 * @param {string} directory
 */
function refuseForeign({ pid, command }, directory) {
  if (pid === undefined) {
    throw new Refusal(`A process of another user is using ${directory}. Run the command as that user or as root.`)
  }
  if (command === undefined) {
    throw new Refusal(
      `Process ${pid} is using ${directory}, and is not a server: ${commandLine(pid)}. ` +
        'Wait until it has ended, and try again.',
    )
  }
}

/** @param {number} pid */
const commandLine = (pid) => readIfThere(`/proc/${pid}/cmdline`).split('\0').join(' ').trim()

/**
 * Ends the router, and a successor that waits to take over. Returns whether there was one.
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
      ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(codeOf(error) ?? '')
        ? resolve(undefined)
        : reject(error),
    )
    outgoing.end()
  })
}

/**
 * Returns the directory of the database, which the file `location` may name.
 * @param {string} directory
 */
export const databaseHome = (directory) => readIfThere(join(directory, 'location')).trim() || directory

/** SIGINT rolls open transactions back. SIGQUIT ends PostgreSQL at once. */
const databaseSignals = /** @type {const} */ ([
  { name: 'SIGINT', limitMs: 20_000 },
  { name: 'SIGQUIT', limitMs: 10_000 },
])

/**
 * Ends the PostgreSQL that a killed server left behind. Returns whether there was one.
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
 * Whether the process works in the directory. Process ids are reused, so the id alone proves
 * nothing.
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
