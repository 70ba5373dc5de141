import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'
import { step } from './progress.mjs'
import { isInstalled } from './system.mjs'

/** Programs that only tests need, and the packages of Debian and Ubuntu that have them. */
export const testPrograms = [
  { name: 'docker-registry', from: 'docker-registry', tests: 'Tests with a container registry' },
  { name: 'mkfs.btrfs', from: 'btrfs-progs', tests: 'Tests of enforced limits of layers' },
]

/** Where packages put programs; systems differ. */
const places = [['usr', 'bin'], ['usr', 'sbin'], ['sbin']]

/**
 * Returns the directory of a test program, or '' if it is installed. If it is unavailable, prints
 * why and returns undefined. The package is only unpacked below node_modules, because an installed
 * one might run as a service of the machine. Root is needed only if the package lists are missing.
 * @param {{ name: string, from: string, tests: string }} program
 * @param {string} root
 * @param {{
 *   isApt: boolean,
 *   isRoot: boolean,
 *   run?: typeof execute,
 *   say?: (text: string) => void,
 * }} options
 */
export async function bringProgram({ name, from, tests }, root, { isApt, isRoot, run = execute, say = console.log }) {
  if (isInstalled(name)) return ''
  const place = join(root, 'node_modules', '.cache', from)
  const find = () => places.map((parts) => join(place, ...parts)).find((path) => existsSync(join(path, name)))
  const found = find()
  if (found) return found
  /** @param {string} reason */
  const skipped = (reason) => {
    say(`${tests} are skipped: ${reason}. Put a "${name}" into PATH to run them.`)
    return undefined
  }
  if (!isApt) return skipped(`${from} is a package of Debian and Ubuntu`)
  mkdirSync(place, { recursive: true })
  return await step(`Fetching ${name} for tests`, async () => {
    const download = () => run('apt-get', ['download', from], { cwd: place })
    let { code, output } = await download()
    if (code !== 0 && isRoot) {
      await run('apt-get', ['update'])
      ;({ code, output } = await download())
    }
    const archive = readdirSync(place).find((file) => file.endsWith('.deb'))
    if (code !== 0 || !archive) return skipped(`"apt-get download ${from}" failed: ${output.trim().split('\n').at(-1)}`)
    const unpacked = await run('dpkg-deb', ['--extract', archive, '.'], { cwd: place })
    if (unpacked.code !== 0) return skipped(`"dpkg-deb --extract" failed: ${unpacked.output.trim()}`)
    return find() ?? skipped(`the package ${from} has no ${name}`)
  })
}
