import { readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { execute } from './execute.mjs'
import { bringLaterHaproxy, laterDebians, versionIn, whyNoLaterHaproxy } from './later-haproxy.mjs'
import { isApt, root } from './prepare.mjs'
import { Refusal, step } from './progress.mjs'
import { runTests } from './run-suite.mjs'
import { sideBySide } from './side-by-side.mjs'
import { listFiles, sortTests } from './suites.mjs'
import { bringProgram } from './test-programs.mjs'

/** @typedef {import('./later-haproxy.mjs').Debian} Debian */
/** @typedef {import('./side-by-side.mjs').Suite} Suite */
/** @typedef {{ timeoutSeconds?: number, limitMinutes?: number }} Limits */
/** @typedef {{ cwd: string, env: NodeJS.ProcessEnv }} Settings */

/** Tests that import only a question about its version do not start it themselves. */
const imported = /^import \{(?!\s*isHaproxySince,?\s*\})[^']*'[^']*support\/haproxy\.ts'/m
const read = /process\.env\.QUAYSIDE_TEST_HAPROXY/

/**
 * Pure: whether a test starts HAProxy, by its text.
 * @param {string} text
 */
export const usesHaproxy = (text) => imported.test(text) || read.test(text)

/**
 * Suites that run the tests with HAProxy again, with the HAProxy of each later release of Debian.
 * If there is none, its suite is skipped with a line that says why.
 * @param {string} node
 * @param {Settings} settings
 * @param {Limits} withEngine
 */
export function haproxySuites(node, settings, withEngine) {
  const sorted = sortTests(listFiles(root))
  /** @param {readonly string[]} files */
  const users = (files) => files.filter((file) => usesHaproxy(readFileSync(join(root, file), 'utf8')))
  const [fast, docker] = [users(sorted.fast), users(sorted.docker)]
  return laterDebians.map((debian) => {
    const run = async () => {
      const found = await bring(debian, settings)
      if (found === undefined) return { passed: 0, failed: 0, skipped: 0 }
      console.log(`Tests use HAProxy ${found.version} (${found.program})`)
      const more = { ...settings, env: { ...settings.env, QUAYSIDE_TEST_HAPROXY: found.program } }
      /**
       * @param {string[]} files
       * @param {Limits & { concurrency: number }} limits
       * @returns {Suite}
       */
      const tests = (files, limits) => (print) => runTests(node, files, { ...more, ...limits, ...print })
      const engine = docker.length > 0 ? [tests(docker, { ...withEngine, concurrency: 1 })] : []
      return await sideBySide([tests(fast, { concurrency: 2 }), ...engine])
    }
    return { title: `Tests with the HAProxy of ${debian.name}`, files: [...fast, ...docker], run }
  })
}

/**
 * Brings the HAProxy of a release. Prints a line and returns undefined if its tests are skipped.
 * @param {Debian} debian
 * @param {Settings} settings
 */
async function bring(debian, { env }) {
  const tests = `Tests with the HAProxy of ${debian.name}`
  /** @param {string} reason */
  const skipped = (reason) => {
    console.log(`${tests} are skipped: ${reason}.`)
    return undefined
  }
  const reason = whyNoLaterHaproxy({ isApt: isApt() })
  if (reason !== undefined) return skipped(reason)
  const machine = { isApt: isApt(), isRoot: process.getuid?.() === 0 }
  const directory = await bringProgram({ name: 'patchelf', from: 'patchelf', tests }, root, machine)
  if (directory === undefined) return undefined
  const patchelf = join(directory, 'patchelf')
  const installed = await installedVersion(env)
  try {
    const bringing = () => bringLaterHaproxy(debian, { installed, patchelf })
    const found = await step(`Fetching the HAProxy of ${debian.name} for tests`, bringing)
    return found ?? skipped(`all tests use HAProxy ${installed}, which is not older`)
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
