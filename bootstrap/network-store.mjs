import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from './system.mjs'

/**
 * Returns the names of networks that a Docker Engine was removing when it was killed. Engines
 * before 23.0.5 (Debian 12 has 20.10) store such a network without its addresses and panic at every
 * later start: https://github.com/moby/moby/issues/45057.
 * @returns {string[]}
 */
export const findHalfRemoved = (dataRoot = dataRootOfEngine()) => read(dataRoot).names

/**
 * Repairs those networks, so that the engine starts and finishes their removal. Returns their
 * names. Keeps a copy of the original store beside it. The engine must not be running.
 * @returns {string[]}
 */
export function mendNetworkStore(dataRoot = dataRootOfEngine()) {
  const { path, mended, names } = read(dataRoot)
  if (names.length === 0) return []
  copyFileSync(path, `${path}.before-mending`)
  writeFileSync(path, mended)
  return names
}

/** @param {string} dataRoot */
function read(dataRoot) {
  const path = join(dataRoot, 'network', 'files', 'local-kv.db')
  return { path, ...withoutHalfRemoved(existsSync(path) ? readFileSync(path) : Buffer.alloc(0)) }
}

/**
 * Returns the data directory of this machine's engine. Invalid settings are reported by the engine
 * itself.
 * @returns {string}
 */
export const dataRootOfEngine = (settings = readIfThere('/etc/docker/daemon.json')) =>
  asJson(settings)?.['data-root'] ?? '/var/lib/docker'

/**
 * Pure: returns a copy of the store in which no network that is being removed refers to missing
 * addresses. The store is a bbolt file (https://github.com/etcd-io/bbolt): its pages have no
 * checksums, and each value is contiguous. No byte moves: spaces after the value replace removed
 * text.
 * @param {Buffer} store
 */
export function withoutHalfRemoved(store) {
  const mended = Buffer.from(store)
  const names = new Set()
  for (let at = store.indexOf(beginning); at >= 0; at = store.indexOf(beginning, at + 1)) {
    const text = objectAt(store, at)
    const network = text && asJson(text)
    if (text === undefined || network?.inDelete !== true) continue
    for (const version of ['V4', 'V6']) {
      const key = `ipam${version}Config`
      if ((network[key] ?? '[]') === '[]' || network[`ipam${version}Info`]) continue
      mended.write(emptied(text, key), at, 'latin1')
      names.add(network.name)
    }
  }
  return { mended, names: [...names] }
}

/** The engine writes the members of a network in the order of their names; this one comes first. */
const beginning = '{"addrSpace":'

/**
 * @param {string} text
 * @param {string} key
 */
const emptied = (text, key) =>
  text.replace(new RegExp(`"${key}":"(?:[^"\\\\]|\\\\.)*"`), (member) => `"${key}":"[]"`.padEnd(member.length))

/**
 * Returns the text of the JSON object that begins at `start`; undefined if it does not end.
 * @param {Buffer} store
 * @param {number} start
 */
function objectAt(store, start) {
  let depth = 0
  let isText = false
  for (let at = start; at < store.length; at++) {
    const sign = store[at]
    if (isText) {
      if (sign === 0x5c) at++
      else if (sign === 0x22) isText = false
    } else if (sign === 0x22) isText = true
    else if (sign === 0x7b) depth++
    else if (sign === 0x7d && --depth === 0) return store.toString('latin1', start, at + 1)
  }
  return undefined
}

/**
 * Returns undefined for text that is not JSON: an unused page may hold a part of a network.
 * @param {string} text
 */
function asJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
