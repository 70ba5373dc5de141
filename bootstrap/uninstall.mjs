// `npm run uninstall`: lists what this installation has on the machine, and removes it once confirmed. `-- --yes` does not ask,
// `-- --keep-data` leaves the data directory and the volumes.
import { existsSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { dataDirectoryOf } from './data-directory.mjs'
import { handOver } from './execute.mjs'
import { prepare, root } from './prepare.mjs'
import { main, Refusal } from './progress.mjs'
import { findUnit, removeUnit, runSystemctl } from './service-unit.mjs'
import { databaseHome, stopInstallation } from './stop-installation.mjs'
import { readIfThere } from './system.mjs'

const known = ['--yes', '--keep-data']

await main(async () => {
  const args = process.argv.slice(2)
  const foreign = args.filter((word) => !known.includes(word))
  if (foreign.length > 0)
    throw new Refusal(`There is no option ${foreign.join(' ')}. Known are ${known.join(' and ')}.`)
  const keepsData = args.includes('--keep-data')
  const directory = dataDirectoryOf()
  if (!existsSync(directory))
    throw new Refusal(`There is no data directory ${directory}. QUAYSIDE_DATA names another one.`)
  const { node, env } = await prepare({ engine: false })
  /** @param {'list' | 'remove'} command */
  const onEngine = (command) =>
    handOver(node, [join(root, 'server', 'start', 'uninstall.ts'), command, ...(keepsData ? ['--keep-data'] : [])], {
      ...env,
      QUAYSIDE_DATA: directory,
    })
  if ((await onEngine('list')) !== 0) return 1
  const paths = keepsData ? [] : directoriesOf(directory)
  console.log(`\nDirectories${keepsData ? ': none, the data stays' : ''}`)
  for (const path of paths) console.log(`  ${path}`)
  const unit = findUnit(directory)
  if (unit) console.log(`\nUnit of systemd\n  ${unit.path}`)
  for (const line of remarks(directory)) console.log(line)
  const name = readIfThere(join(directory, 'instance')).trim() || basename(directory)
  if (!args.includes('--yes') && !(await isConfirmed(name))) throw new Refusal('Nothing was removed.')
  if (unit) await removeUnit(unit, { run: runSystemctl() })
  const { lock } = await stopInstallation(directory)
  lock.close()
  if ((await onEngine('remove')) !== 0) return 1
  for (const path of paths) rmSync(path, { recursive: true, force: true })
  console.log(
    `\nRemoved. ${keepsData ? `The data is in ${directory}, and in the volumes of services. ` : ''}The checkout ${root} is yours to delete.`,
  )
  return 0
})

/**
 * The database may be elsewhere, and its socket too.
 * @param {string} directory
 */
function directoriesOf(directory) {
  const home = databaseHome(join(directory, 'postgresql'))
  return home.startsWith(`${directory}/`) ? [directory] : [directory, home]
}

/**
 * Lists what belongs to the operator and is kept.
 * @param {string} directory
 */
function remarks(directory) {
  const { QUAYSIDE_DATABASE_URL: database, QUAYSIDE_MASTER_KEY_FILE: key } = process.env
  return [
    ...(database ? ['The database of QUAYSIDE_DATABASE_URL stays.'] : []),
    ...(key && !join(dirname(key), '/').startsWith(`${directory}/`) ? [`The master key ${key} stays.`] : []),
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
