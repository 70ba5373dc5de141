import { createHash } from 'node:crypto'
import { renameSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { codeOf } from './error-code.mjs'
import { readIfThere } from './system.mjs'

/** Returns the data directory that the environment names, as server/config.ts does. */
export const dataDirectoryOf = (variables = process.env) => resolve(variables.QUAYSIDE_DATA || '.quayside')

/**
 * Returns the name of the lock in the abstract namespace of Linux, without the leading NUL.
 * @param {string} directory
 */
export function lockName(directory) {
  const digest = createHash('sha256').update(`data ${directory}`).digest('hex').slice(0, 32)
  return `quayside-${digest}`
}

/**
 * Takes the lock that a server holds while it lives (server/database/exclusive.ts): a listening
 * socket without a file, which the kernel releases. Returns undefined if the lock is held. `close`
 * releases it. It does not keep the process alive.
 * @param {string} directory
 * @returns {Promise<import('node:net').Server | undefined>}
 */
export function lockDataDirectory(directory) {
  return new Promise((taken, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error) => (codeOf(error) === 'EADDRINUSE' ? taken(undefined) : reject(error)))
    server.listen({ path: `\0${lockName(directory)}` }, () => taken(server))
    server.unref()
  })
}

/**
 * Returns the user id of the owner of a data directory. A directory that does not exist yet will be
 * this user's.
 * @param {string} directory
 */
export function ownerOf(directory) {
  try {
    return statSync(directory).uid
  } catch (error) {
    const uid = process.getuid?.()
    if (codeOf(error) !== 'ENOENT' || uid === undefined) throw error
    return uid
  }
}

/**
 * Returns the value of a JSON file of the data directory; undefined if the file does not exist.
 * @param {string} directory
 * @param {string} name
 */
export function readJson(directory, name) {
  const text = readIfThere(join(directory, name))
  return text === '' ? undefined : JSON.parse(text)
}

/**
 * Replaces a JSON file of the data directory in one step.
 * @param {string} directory
 * @param {string} name
 * @param {unknown} value
 */
export function writeJson(directory, name, value) {
  const file = join(directory, name)
  writeFileSync(`${file}.next`, `${JSON.stringify(value, undefined, 2)}\n`, { flush: true })
  renameSync(`${file}.next`, file)
}
