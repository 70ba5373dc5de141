import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bringHaproxy } from './bring-haproxy.mjs'
import { laterDebians } from './later-haproxy.mjs'
import { root } from './prepare.mjs'
import { runTests } from './run-suite.mjs'
import { sideBySide } from './side-by-side.mjs'
import { listFiles, sortTests } from './suites.mjs'

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
    const title = `Tests with the HAProxy of ${debian.name}`
    const run = async () => {
      const found = await bringHaproxy(debian, settings.env, title)
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
    return { title, files: [...fast, ...docker], run }
  })
}
