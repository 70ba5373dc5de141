import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { execute } from './execute.mjs'

/** The files from which the console is built. */
const sources = [
  'console/src',
  'console/build.ts',
  'console/manifest.ts',
  'console/setting-kinds.ts',
  'client',
  'contract',
  'package-lock.json',
]

/**
 * Builds the console unless its files are newer than all sources. Returns the output of a build
 * that failed.
 * @param {string} root
 * @param {string} node
 * @returns {Promise<string | undefined>}
 */
export async function buildConsole(root, node) {
  if (isCurrent(root)) return undefined
  const { code, output } = await execute(node, [join(root, 'console', 'build.ts')], { cwd: root, env: process.env })
  return code === 0 ? undefined : output.trim()
}

/** @param {string} root */
export function isCurrent(root) {
  const built = statSync(join(root, 'console', 'dist', 'index.html'), { throwIfNoEntry: false })
  return built !== undefined && sources.every((source) => newest(join(root, source)) <= built.mtimeMs)
}

/**
 * Returns when a file, or the newest one below a directory, was changed.
 * @param {string} path
 * @returns {number}
 */
function newest(path) {
  const { mtimeMs } = statSync(path)
  if (!statSync(path).isDirectory()) return mtimeMs
  const inside = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Math.max(mtimeMs, ...inside.map((entry) => statSync(join(entry.parentPath, entry.name)).mtimeMs))
}
