import { createHash } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { codeOf } from './error-code.mjs'
import { readIfThere } from './system.mjs'

/** The data directory that the environment names, as server/config.ts reads it. */
export const dataDirectoryOf = (variables = process.env) => resolve(variables.QUAYSIDE_DATA || '.quayside')

/**
 * The name of the lock in Linux' abstract name space, without the NUL before it.
 * @param {string} directory
 */
export function lockName(directory) {
  const digest = createHash('sha256').update(`data ${directory}`).digest('hex').slice(0, 32)
  return `quayside-${digest}`
}

/**
 * The lock that a server holds for as long as it lives (server/database/exclusive.ts): a listening socket without a file, given back by the
 * kernel. Undefined while somebody has it. `close` gives it back; it does not keep the process alive.
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
 * The value of a JSON file of the data directory; undefined where there is none.
 * @param {string} directory
 * @param {string} name
 */
export function readJson(directory, name) {
  const text = readIfThere(join(directory, name))
  return text === '' ? undefined : JSON.parse(text)
}

/**
 * Writes it whole or not at all.
 * @param {string} directory
 * @param {string} name
 * @param {unknown} value
 */
export function writeJson(directory, name, value) {
  const file = join(directory, name)
  writeFileSync(`${file}.next`, `${JSON.stringify(value, undefined, 2)}\n`, { flush: true })
  renameSync(`${file}.next`, file)
}
