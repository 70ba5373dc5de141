// `npm run service`: has systemd start this installation at boot, with the settings of this environment; `-- --remove` undoes that.
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectoryOf, lockDataDirectory } from './data-directory.mjs'
import { readOptions } from './options.mjs'
import { prepare, root } from './prepare.mjs'
import { main, Refusal } from './progress.mjs'
import { findUnit, installUnit, removeUnit, runSystemctl } from './service-unit.mjs'
import { unitText } from './unit-text.mjs'

await main(async () => {
  const isRemoval = readOptions(['--remove']).includes('--remove')
  const directory = dataDirectoryOf()
  const found = findUnit(directory)
  const what = { node: process.execPath, root, directory, uid: ownerOf(directory), variables: process.env }
  if (isRemoval && !found) throw new Refusal(`There is no unit of systemd for ${directory}.`)
  if (!existsSync('/run/systemd/system')) throw new Refusal(withoutSystemd(what))
  if (process.getuid?.() !== 0) throw new Refusal('Only root can change units of systemd. Give the command with sudo.')
  if (isRemoval && found) {
    await removeUnit(found, { run: runSystemctl() })
    console.log(`Removed ${found.path}. Services keep running; npm start starts the server.`)
    return 0
  }
  if (!found) await refuseWhileInUse(directory)
  await prepare()
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  const unit = await installUnit(what, { run: runSystemctl() })
  console.log(`${unit.name} runs, and starts with the machine. Its settings are in ${unit.environmentFile}.
What it says: journalctl -u ${unit.name} -f
Other settings: change them there, and give systemctl restart ${unit.name}.`)
  return 0
})

/**
 * Returns the owner of a data directory: the user that ran the server before. Root owns a new one.
 * @param {string} directory
 */
function ownerOf(directory) {
  return existsSync(directory) ? statSync(directory).uid : 0
}

/** @param {string} directory */
async function refuseWhileInUse(directory) {
  const lock = await lockDataDirectory(directory)
  if (!lock) throw new Refusal(`A server runs on ${directory}. Give npm stop first.`)
  lock.close()
}

/** @param {{ node: string, root: string, directory: string, uid: number }} what */
function withoutSystemd(what) {
  return `systemd does not run here. Have the supervisor of this system start
"${what.node} ${join(root, 'bootstrap', 'start.mjs')}" in ${root} with QUAYSIDE_DATA=${what.directory}, after the network and Docker. It has to
- end it with SIGTERM, and wait 150 s before it kills it,
- signal this process only: the router outlives it,
- start it again after a failure (an exit code other than 0).
As a unit of systemd that would be:

${unitText({ ...what, environmentFile: '/etc/quayside/quayside.env' })}`
}
