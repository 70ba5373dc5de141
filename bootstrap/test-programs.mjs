import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'
import { step } from './progress.mjs'
import { aptInstall, isInstalled } from './system.mjs'

/** Programs that only tests need, and the packages of Debian and Ubuntu that have them. */
export const testPrograms = [
  { name: 'docker-registry', from: 'docker-registry', tests: 'Tests with a container registry' },
  { name: 'mkfs.btrfs', from: 'btrfs-progs', tests: 'Tests of enforced limits of layers' },
  // Some need many libraries. Chromium and nsupdate run no service.
  { name: 'chromium', from: 'chromium', tests: 'Tests of the console', isInstalledWhole: true },
  { name: 'nsupdate', from: 'bind9-dnsutils', tests: 'Tests of proofs in DNS', isInstalledWhole: true },
  // Its service opens no port before somebody configures it.
  { name: 'haproxy', from: 'haproxy', tests: 'Tests of HAProxy before the router', isInstalledWhole: true },
  { name: 'named', from: 'bind9', tests: 'Tests of proofs in DNS' },
]

/** Where packages put programs; systems differ. */
const places = [['usr', 'bin'], ['usr', 'sbin'], ['sbin']]

/**
 * Returns the directory of a test program, or '' if it is installed. If it is unavailable, prints
 * why and returns undefined. The package is only unpacked below node_modules, because an installed
 * one might run as a service of the machine. Root is needed only if the package lists are missing.
 * @param {{ name: string, from: string, tests: string, isInstalledWhole?: boolean }} program
 * @param {string} root
 * @param {{
 *   isApt: boolean,
 *   isRoot: boolean,
 *   run?: typeof execute,
 *   say?: (text: string) => void,
 * }} options
 */
export async function bringProgram(
  { name, from, tests, isInstalledWhole = false },
  root,
  { isApt, isRoot, run = execute, say = console.log },
) {
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
  if (isInstalledWhole) {
    if (!isRoot) return skipped(`only root can install ${from}`)
    return await step(`Installing ${name} for tests (about a minute)`, () => install({ from, run, skipped }))
  }
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

/**
 * Installs a package with what it needs. Returns '', or undefined with a line that says why not.
 * @param {{
 *   from: string,
 *   run: typeof execute,
 *   skipped: (reason: string) => undefined,
 * }} options
 */
async function install({ from, run, skipped }) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const [program = 'apt-get', ...args] = aptInstall([from])
  await run('apt-get', ['update'], { env })
  const { code, output } = await run(program, args, { env })
  return code === 0 ? '' : skipped(`"apt-get install ${from}" failed: ${output.trim().split('\n').at(-1)}`)
}
