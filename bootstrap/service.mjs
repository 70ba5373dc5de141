// `npm run service`: has systemd start this installation at boot, with the settings of this
// environment. `-- --remove` undoes that.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { dataDirectoryOf, ownerOf } from './data-directory.mjs'
import { mustLock } from './lock-holder.mjs'
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
  if (process.getuid?.() !== 0) throw new Refusal('Only root can change units of systemd. Run the command with sudo.')
  if (isRemoval && found) {
    await removeUnit(found, { run: runSystemctl() })
    console.log(`Removed ${found.path}. Services keep running; npm start starts the server.`)
    return 0
  }
  if (!found) (await mustLock(directory)).close()
  await prepare()
  mkdirSync(directory, { recursive: true, mode: 0o711 })
  const unit = await installUnit(what, { run: runSystemctl() })
  console.log(`${unit.name} runs, and starts with the machine. Its settings are in ${unit.environmentFile}.
Show its log: journalctl -u ${unit.name} -f
After a change of the settings, run: systemctl restart ${unit.name}`)
  return 0
})

/** @param {{ node: string, root: string, directory: string, uid: number }} what */
function withoutSystemd(what) {
  return `systemd does not run here. Have the supervisor of this system start
"${what.node} ${join(root, 'bootstrap', 'start.mjs')}"
in ${root} with QUAYSIDE_DATA=${what.directory}, after the network and Docker. The supervisor must
- stop the process with SIGTERM, and wait 150 s before it kills it,
- signal this process only, because the router outlives it,
- restart it after a failure (an exit code other than 0).
This is the equivalent unit of systemd:

${unitText({ ...what, environmentFile: '/etc/quayside/quayside.env' })}`
}
