import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { must, withPackagesOf } from './debian-packages.mjs'
import { codeOf } from './error-code.mjs'
import { execute } from './execute.mjs'
import { Refusal } from './progress.mjs'
import { isInstalled } from './system.mjs'

/** @typedef {import('./debian-packages.mjs').Release & { name: string }} Debian */
/**
 * @typedef {Pick<import('./debian-packages.mjs').Packages,
 *   'versionOf' | 'librariesOf' | 'unpack'>} Packages
 */
/**
 * @template T
 * @typedef {(debian: Debian, work: (packages: Packages) => Promise<T>) => Promise<T>} WithPackages
 */
/** @typedef {{ program: string, version: string }} Haproxy */

/**
 * The releases of Debian whose HAProxy tests use beside the one of this machine, the newest first.
 * A failure hides the later entries, and 3.0 of Debian 13 ends now and then in one of the tests.
 * @type {[Debian, ...Debian[]]}
 */
export const laterDebians = [
  { suite: 'sid', newer: { suite: 'experimental', name: 'haproxy' }, name: 'Debian experimental' },
  { suite: 'forky', name: 'Debian 14' },
  { suite: 'trixie', name: 'Debian 13' },
]

const libraries = join('usr', 'lib', 'x86_64-linux-gnu')
const loader = join(libraries, 'ld-linux-x86-64.so.2')
const program = join('usr', 'sbin', 'haproxy')
const half = '.half-'

/**
 * Returns why this machine cannot run the HAProxy of another release. Undefined if it can.
 * @param {{ isApt: boolean, arch?: string, has?: typeof isInstalled }} machine
 */
export function whyNoLaterHaproxy({ isApt, arch = process.arch, has = isInstalled }) {
  if (!isApt) return 'its packages come from apt, which this machine does not have'
  if (arch !== 'x64') return `its program is changed for amd64 only, and this machine is ${arch}`
  return has('dpkg-deb') ? undefined : 'this machine has no dpkg-deb'
}

/** Where programs that tests need are kept between runs. */
const usualCache = () => join(homedir(), '.cache', 'quayside')

/**
 * Brings the HAProxy of a release of Debian, with its libraries and their loader, below the cache
 * of this user. Without the package lists it returns the one that was brought last. Returns
 * undefined if `installed`, the version of this machine, is of the same branch or a later one.
 * Throws a Refusal if there is none.
 * @param {Debian} debian
 * @param {{ installed: string | undefined, patchelf: string, cache?: string, run?: typeof execute,
 *   say?: (text: string) => void, withPackages?: WithPackages<Haproxy | undefined> }} options
 * @returns {Promise<Haproxy | undefined>}
 */
export async function bringLaterHaproxy(debian, options) {
  const { installed, say = console.log, withPackages = withPackagesOf } = options
  const prefix = `haproxy-${debian.newer?.suite ?? debian.suite}-`
  await mkdir(options.cache ?? usualCache(), { recursive: true })
  const cache = await realpath(options.cache ?? usualCache())
  try {
    return await withPackages(debian, async (packages) => {
      const version = await packages.versionOf('haproxy')
      if (installed !== undefined && isBranchOf(installed, version)) return undefined
      const place = join(cache, `${prefix}${version}`)
      if (!existsSync(place)) await build(packages, place, options)
      return { program: join(place, program), version }
    })
  } catch (error) {
    const last = await lastOf(cache, prefix)
    if (!(error instanceof Refusal) || last === undefined) throw error
    const version = last.slice(prefix.length)
    if (installed !== undefined && isBranchOf(installed, version)) return undefined
    say(
      `The HAProxy of ${debian.name} is not updated: ${error.message}. Tests use ${version}, which was fetched before.`,
    )
    return { program: join(cache, last, program), version }
  }
}

/**
 * Unpacks HAProxy and its libraries, and changes the program so that it uses them. The folder gets
 * its name once it is whole.
 * @param {Packages} packages
 * @param {string} place
 * @param {{ patchelf: string, run?: typeof execute }} options
 */
async function build(packages, place, { patchelf, run = execute }) {
  const folder = await mkdtemp(`${place}${half}`)
  try {
    await packages.unpack(['haproxy', ...(await packages.librariesOf('haproxy'))], folder)
    const path = join(folder, program)
    // Unlike a "runpath", an "rpath" holds for the libraries of the libraries as well.
    const from = '$ORIGIN/../lib/x86_64-linux-gnu'
    await must(run, patchelf, ['--set-interpreter', join(place, loader), '--force-rpath', '--set-rpath', from, path])
    const foreign = librariesOutside(folder, await must(run, join(folder, loader), ['--list', path]))
    if (foreign.length > 0) throw new Refusal(`its packages lack libraries: ${foreign.join(', ')}`)
    await rename(folder, place).catch(unlessThere)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/**
 * Another run may have made the folder at the same time.
 * @param {unknown} error
 */
const unlessThere = (error) => {
  if (!['ENOTEMPTY', 'EEXIST'].includes(codeOf(error) ?? '')) throw error
}

/**
 * Returns the whole folder with this prefix that got its name last. Undefined if none exists.
 * @param {string} cache
 * @param {string} prefix
 */
async function lastOf(cache, prefix) {
  const names = (await readdir(cache)).filter((name) => name.startsWith(prefix) && !name.includes(half))
  const found = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(cache, name))).ctimeMs })))
  return found.sort((one, other) => one.at - other.at).at(-1)?.name
}

/**
 * Pure: lists the libraries that the loader found outside a directory, or did not find. `text` is
 * the answer to its option `--list`.
 * @param {string} directory
 * @param {string} text
 */
export function librariesOutside(directory, text) {
  const lines = text.split('\n').map((line) => line.trim())
  return lines
    .filter((line) => line.includes(' => ') && !line.split(' => ')[1]?.startsWith(`${directory}/`))
    .map((line) => line.split(' => ')[0])
}

/**
 * Pure: whether a version is of the branch of `needed`, its first two numbers, or of a later one.
 * @param {string} version
 * @param {string} needed
 */
export function isBranchOf(version, needed) {
  const [[major, minor], [neededMajor, neededMinor]] = [branchOf(version), branchOf(needed)]
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

/**
 * @param {string} version
 * @returns {[number, number]}
 */
function branchOf(version) {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return [Number(major ?? 0), Number(minor ?? 0)]
}

/**
 * Pure: returns the version that `haproxy -v` reports. Undefined if there is none.
 * @param {string} text
 */
export const versionIn = (text) => /^HA-?Proxy version (\S+)/m.exec(text)?.[1]
