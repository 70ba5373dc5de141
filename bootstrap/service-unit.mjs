import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { mustExecute } from './execute.mjs'
import { readIfThere } from './system.mjs'
import { environmentText, markOf, unitText } from './unit-text.mjs'

/** @typedef {{ name: string, path: string, environmentFile: string }} Unit */
/** @typedef {(...args: string[]) => Promise<void>} RunSystemctl */
/**
 * @typedef {{
 *   node: string,
 *   root: string,
 *   directory: string,
 *   uid: number,
 *   variables: NodeJS.ProcessEnv,
 * }} Installation
 */

/** Where systemd looks for units of the administrator, and where their settings are. */
export const usualPlaces = { units: '/etc/systemd/system', settings: '/etc/quayside' }

/**
 * Returns the unit of an installation; undefined if it has none.
 * @param {string} directory
 * @returns {Unit | undefined}
 */
export function findUnit(directory, places = usualPlaces) {
  const names = existsSync(places.units)
    ? readdirSync(places.units).filter((name) => /^quayside.*\.service$/.test(name))
    : []
  const name = names.find((one) => readIfThere(join(places.units, one)).startsWith(`${markOf(directory)}\n`))
  return name ? unitOf(name, places) : undefined
}

/**
 * @param {string} name
 * @param {typeof usualPlaces} places
 * @returns {Unit}
 */
const unitOf = (name, places) => ({
  name,
  path: join(places.units, name),
  environmentFile: join(places.settings, name.replace(/service$/, 'env')),
})

/**
 * Returns the name of a new unit. The first installation of a machine has the short name.
 * @param {string} directory
 * @param {typeof usualPlaces} places
 */
function nameFor(directory, places) {
  if (!existsSync(join(places.units, 'quayside.service'))) return 'quayside.service'
  return `quayside-${createHash('sha256').update(directory).digest('hex').slice(0, 8)}.service`
}

/**
 * Writes the unit and its settings, which may contain passwords, and has systemd start it now and
 * at boot. An existing unit gets the new settings. `run` calls systemctl.
 * @param {Installation} installation
 * @param {{ run: RunSystemctl, places?: typeof usualPlaces }} options
 */
export async function installUnit({ node, root, directory, uid, variables }, { run, places = usualPlaces }) {
  const unit = findUnit(directory, places) ?? unitOf(nameFor(directory, places), places)
  mkdirSync(dirname(unit.environmentFile), { recursive: true, mode: 0o700 })
  rmSync(unit.environmentFile, { force: true })
  writeFileSync(unit.environmentFile, environmentText(variables, directory), { mode: 0o600 })
  const text = unitText({ node, root, directory, environmentFile: unit.environmentFile, uid })
  writeFileSync(unit.path, text, { mode: 0o644 })
  await run('daemon-reload')
  await run('enable', unit.name)
  await run('restart', unit.name)
  return unit
}

/**
 * Stops the unit and removes its files. The router and services keep running.
 * @param {Pick<Unit, "name" | "path" | "environmentFile">} unit
 * @param {{ run: RunSystemctl }} options
 */
export async function removeUnit(unit, { run }) {
  await run('disable', '--now', unit.name)
  for (const path of [unit.path, unit.environmentFile]) rmSync(path, { force: true })
  await run('daemon-reload')
}

/**
 * Returns a function that calls systemctl, or does nothing without systemd.
 * @returns {RunSystemctl}
 */
export const runSystemctl =
  () =>
  async (...args) => {
    if (!existsSync('/run/systemd/system')) return
    await mustExecute('systemctl', args, { advice: 'Look at "journalctl -xe", fix the problem, and try again.' })
  }
