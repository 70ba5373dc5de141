import { delimiter, join } from 'node:path'
import { execute } from './execute.mjs'
import { bringLaterHaproxy, versionIn, whyNoLaterHaproxy } from './later-haproxy.mjs'
import { isApt, root } from './prepare.mjs'
import { Refusal, step } from './progress.mjs'
import { bringProgram } from './test-programs.mjs'

/** @typedef {import('./later-haproxy.mjs').Debian} Debian */

/**
 * Brings the HAProxy of a release for `users`, such as some tests. Prints a line and returns
 * undefined if it cannot, or if the machine's own is not older.
 * @param {Debian} debian
 * @param {NodeJS.ProcessEnv} env
 * @param {string} users
 */
export async function bringHaproxy(debian, env, users) {
  /** @param {string} reason */
  const skipped = (reason) => {
    console.log(`${users} are skipped: ${reason}.`)
    return undefined
  }
  const reason = whyNoLaterHaproxy({ isApt: isApt() })
  if (reason !== undefined) return skipped(reason)
  const machine = { isApt: isApt(), isRoot: process.getuid?.() === 0 }
  const directory = await bringProgram({ name: 'patchelf', from: 'patchelf', tests: users }, root, machine)
  if (directory === undefined) return undefined
  const patchelf = join(directory, 'patchelf')
  const installed = await installedVersion(env)
  try {
    const bringing = () => bringLaterHaproxy(debian, { installed, patchelf })
    const found = await step(`Fetching the HAProxy of ${debian.name}`, bringing)
    return found ?? skipped(`HAProxy ${installed} is not older`)
  } catch (error) {
    if (error instanceof Refusal) return skipped(error.message)
    throw error
  }
}

/**
 * Returns the version of the HAProxy that all tests use. Undefined if there is none.
 * @param {NodeJS.ProcessEnv} env
 */
async function installedVersion(env) {
  const PATH = [env.PATH ?? '', '/usr/local/sbin', '/usr/sbin', '/sbin'].join(delimiter)
  const { code, output } = await execute(env.QUAYSIDE_TEST_HAPROXY || 'haproxy', ['-v'], { env: { ...env, PATH } })
  return code === 0 ? versionIn(output) : undefined
}
