import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What all images are made on: Debian 12, made of its packages. */
export const base = { directory: 'base', reference: 'quayside/debian:12', suite: 'bookworm' }

/**
 * Images of databases by the API's name of their type, with the name by which a client asks for the series of versions that Debian 12
 * has. `stands`: what it is instead of what it is named after.
 * @type {Record<string, { directory: string, reference: string, stands?: string }>}
 */
export const recipes = {
  postgresql: { directory: 'postgresql', reference: 'postgres:15' },
  mysql: { directory: 'mariadb', reference: 'mysql:10.11', stands: 'MariaDB' },
  redis: { directory: 'redis', reference: 'redis:7' },
}

/**
 * Why there is none of the others.
 * @type {Record<string, string>}
 */
export const missing = {
  mongodb:
    'Debian 12 has no package of a MongoDB server; where a registry can be reached, its official image is pulled.',
}

/**
 * The names of the command line as recipes to build, in their order; all without names. Throws a sentence for an unknown one.
 * @param {string[]} names
 */
export function chosen(names) {
  const known = [...Object.keys(recipes), ...Object.keys(missing)]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown) throw new Error(`There is no recipe "${unknown}"; there are ${known.join(', ')}.`)
  return names.length === 0 ? known : known.filter((name) => names.includes(name))
}

/**
 * Longer names of the image, by the version of the package: `postgres:15.14` for `postgres:15` and `15.14-0+deb12u1`.
 * @param {string} reference
 * @param {string} debianVersion
 */
export function furtherNames(reference, debianVersion) {
  const [repository, series] = reference.split(':')
  const numbers = debianVersion.replace(/^\d+:/, '').split(/[-+~]/, 1).join('').split('.')
  const names = numbers.map((_, index) => `${repository}:${numbers.slice(0, index + 1).join('.')}`)
  return names.filter((name) => name.startsWith(`${repository}:${series}.`))
}

/**
 * The version of the package, which the build prints.
 * @param {string} output
 */
export const versionIn = (output) => /^version=(\S+)$/m.exec(output)?.[1]

/**
 * The same for the same recipe on the same base: what carries it need not be built again.
 * @param {string} root
 * @param {string[]} directories
 */
export function fingerprint(root, directories) {
  const hash = createHash('sha256')
  for (const directory of directories) {
    const path = join(root, 'images', directory)
    for (const name of readdirSync(path).sort())
      hash.update(`${directory}/${name}\0`).update(readFileSync(join(path, name)))
  }
  return hash.digest('hex').slice(0, 16)
}
