import { createHash } from 'node:crypto'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execute, mustExecute } from './execute.mjs'
import { Refusal, step } from './progress.mjs'
import { readIfThere } from './system.mjs'

/**
 * Installs the packages of the lockfile unless exactly these are installed. Install scripts do not
 * run.
 * @param {string} root
 */
export async function installDependencies(root) {
  const stamp = join(root, 'node_modules', '.quayside-lockfile')
  const wanted = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (readIfThere(stamp).trim() === wanted) return
  if (!installedByHand(root)) {
    await step('Installing packages (about 10 s)', () => {
      const advice = 'Check the network and the registry settings of npm, and try again.'
      const options = { cwd: root, env: process.env, advice }
      const args = ['ci', '--ignore-scripts', '--include=dev', '--no-audit', '--no-fund']
      return mustExecute(...npmCommand(args), options)
    })
  }
  writeFileSync(stamp, `${wanted}\n`)
}

/**
 * Whether someone ran npm after the last change of the lockfile: npm leaves a copy, which is newer
 * then.
 * @param {string} root
 */
function installedByHand(root) {
  const [installed, lockfile] = [join(root, 'node_modules', '.package-lock.json'), join(root, 'package-lock.json')]
  const stamp = join(root, 'node_modules', '.quayside-lockfile')
  if (!existsSync(installed)) return false
  const since = existsSync(stamp)
    ? Math.max(statSync(stamp).mtimeMs, statSync(lockfile).mtimeMs)
    : statSync(lockfile).mtimeMs
  return statSync(installed).mtimeMs > since
}

/**
 * Returns program and arguments of the npm that started this process, or of the one in PATH.
 * @param {string[]} args
 * @returns {[program: string, args: string[]]}
 */
export function npmCommand(args) {
  const own = process.env.npm_execpath
  return own && /npm-cli\.c?js$/.test(own) ? [process.execPath, [own, ...args]] : ['npm', args]
}

/**
 * Returns the path of the Node.js 24 that runs the server: the installed package, or this one if
 * that does not run here.
 * @param {string} root
 */
export async function findNode(root) {
  const packaged = join(root, 'node_modules', `node-linux-${process.arch}`, 'bin', 'node')
  const { code, output } = await execute(packaged, ['--version'])
  if (code === 0 && output.startsWith('v24.')) return packaged
  if (Number(process.versions.node.split('.')[0]) >= 24) return process.execPath
  throw new Refusal(
    `Node.js 24 at ${packaged} does not run here (${output.trim()}). ` +
      'Install Node.js 24 or newer from https://nodejs.org and start with it.',
  )
}
