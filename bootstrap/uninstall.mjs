// `npm run uninstall`: lists what this installation has on the machine, and removes it after a
// confirmation. `-- --yes` does not ask. `-- --keep-data` keeps the data directory and the volumes.
import { existsSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { dataDirectoryOf } from './data-directory.mjs'
import { handOver } from './execute.mjs'
import { readOptions } from './options.mjs'
import { prepare, root } from './prepare.mjs'
import { main, Refusal } from './progress.mjs'
import { findUnit, removeUnit, runSystemctl } from './service-unit.mjs'
import { databaseHome, stopInstallation } from './stop-installation.mjs'
import { readIfThere } from './system.mjs'

await main(async () => {
  const options = readOptions(['--yes', '--keep-data'])
  const keepsData = options.includes('--keep-data')
  const directory = dataDirectoryOf()
  if (!existsSync(directory)) {
    throw new Refusal(`There is no data directory ${directory}. Set QUAYSIDE_DATA to the one of the installation.`)
  }
  const onEngine = await prepareEngineCommand(directory, keepsData)
  if ((await onEngine('list')) !== 0) return 1
  const paths = keepsData ? [] : directoriesOf(directory)
  const unit = findUnit(directory)
  listRest({ directory, keepsData, paths, unit })
  const name = readIfThere(join(directory, 'instance')).trim() || basename(directory)
  if (!options.includes('--yes') && !(await isConfirmed(name))) throw new Refusal('Nothing was removed.')
  if (unit) await removeUnit(unit, { run: runSystemctl() })
  const { lock } = await stopInstallation(directory)
  lock.close()
  if ((await onEngine('remove')) !== 0) return 1
  for (const path of paths) rmSync(path, { recursive: true, force: true })
  const kept = keepsData ? `The data is in ${directory} and in the volumes of services. ` : ''
  console.log(`\nRemoved. ${kept}You can delete the checkout ${root}.`)
  return 0
})

/**
 * Returns a function that lists or removes what the installation has on the Docker Engine, and
 * returns an exit code.
 * @param {string} directory
 * @param {boolean} keepsData
 */
async function prepareEngineCommand(directory, keepsData) {
  const { node, env } = await prepare({ engine: false })
  const program = join(root, 'server', 'start', 'uninstall.ts')
  const options = keepsData ? ['--keep-data'] : []
  /** @param {'list' | 'remove'} command */
  return (command) => handOver(node, [program, command, ...options], { ...env, QUAYSIDE_DATA: directory })
}

/**
 * Prints what the installation has outside the Docker Engine.
 * @param {{
 *   directory: string,
 *   keepsData: boolean,
 *   paths: string[],
 *   unit: import('./service-unit.mjs').Unit | undefined,
 * }} installation
 */
function listRest({ directory, keepsData, paths, unit }) {
  console.log(`\nDirectories${keepsData ? ': none, the data is kept' : ''}`)
  for (const path of paths) console.log(`  ${path}`)
  if (unit) console.log(`\nUnit of systemd\n  ${unit.path}`)
  for (const line of remarks(directory)) console.log(line)
}

/**
 * Returns the data directory, and the home of the database if that is elsewhere.
 * @param {string} directory
 */
function directoriesOf(directory) {
  const home = databaseHome(join(directory, 'postgresql'))
  return home.startsWith(`${directory}/`) ? [directory] : [directory, home]
}

/**
 * Returns a line for each thing of the operator's that is kept.
 * @param {string} directory
 */
function remarks(directory) {
  const { QUAYSIDE_DATABASE_URL: database, QUAYSIDE_MASTER_KEY_FILE: key } = process.env
  return [
    ...(database ? ['The database of QUAYSIDE_DATABASE_URL is kept.'] : []),
    ...(key && !join(dirname(key), '/').startsWith(`${directory}/`) ? [`The master key ${key} is kept.`] : []),
  ]
}

/** @param {string} name */
async function isConfirmed(name) {
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    const end = new Promise((resolve) => asking.once('close', () => resolve('')))
    const typed = await Promise.race([
      asking.question(`\nThis cannot be undone. Type ${name} to remove all of it: `),
      end,
    ])
    return typed.trim() === name
  } finally {
    asking.close()
  }
}
