import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'
import { step } from './progress.mjs'
import { isInstalled } from './system.mjs'

const name = 'docker-registry'

/**
 * The directory with the container registry that tests deploy from: '' where it is installed, undefined, after saying why, where it is not
 * to be had. The package is only unpacked below node_modules: installed, it would run as a service of the machine. Needs no root where the
 * lists of packages are there.
 */
export async function bringRegistry(root, { isApt, isRoot, run = execute, say = console.log }) {
  if (isInstalled(name)) return ''
  const place = join(root, 'node_modules', '.cache', name)
  const programs = join(place, 'usr', 'bin')
  if (existsSync(join(programs, name))) return programs
  const skipped = (reason) => {
    say(`Tests with a container registry are skipped: ${reason}. Put a "${name}" into PATH to run them.`)
    return undefined
  }
  if (!isApt) return skipped(`${name} is a package of Debian and Ubuntu`)
  mkdirSync(place, { recursive: true })
  return await step(`Fetching ${name} for tests`, async () => {
    const download = () => run('apt-get', ['download', name], { cwd: place })
    let { code, output } = await download()
    if (code !== 0 && isRoot) {
      await run('apt-get', ['update'])
      ;({ code, output } = await download())
    }
    const archive = readdirSync(place).find((file) => file.endsWith('.deb'))
    if (code !== 0 || !archive) return skipped(`"apt-get download ${name}" failed: ${output.trim().split('\n').at(-1)}`)
    const unpacked = await run('dpkg-deb', ['--extract', archive, '.'], { cwd: place })
    return unpacked.code === 0 ? programs : skipped(`"dpkg-deb --extract" failed: ${unpacked.output.trim()}`)
  })
}
