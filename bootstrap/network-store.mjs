import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from './system.mjs'

/**
 * The names of the networks that a Docker Engine was removing when it was killed. Engines before 23.0.5 (Debian 12 has 20.10) write such a
 * network down once more without its addresses and panic over that at every later start: https://github.com/moby/moby/issues/45057.
 * @returns {string[]}
 */
export const findHalfRemoved = (dataRoot = dataRootOfEngine()) => read(dataRoot).names

/**
 * Mends those networks, so that the engine starts and ends their removal; gives their names. A copy of what the engine had written stays
 * beside it. The engine must not be running.
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
 * Where the engine of this machine keeps its data, out of the text of its settings; those that it cannot read it complains of itself.
 * @returns {string}
 */
export const dataRootOfEngine = (settings = readIfThere('/etc/docker/daemon.json')) =>
  asJson(settings)?.['data-root'] ?? '/var/lib/docker'

/**
 * The store (https://github.com/etcd-io/bbolt: pages without checksums, each value in one piece) in which no network that is being removed
 * asks for addresses that are gone. Every byte stays in its place: what is taken out of a value becomes spaces behind it.
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
 * The text of the JSON object that begins there; undefined where it does not end.
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
 * Undefined for what is none: a page that is no longer used may hold a piece of a network.
 * @param {string} text
 */
function asJson(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
