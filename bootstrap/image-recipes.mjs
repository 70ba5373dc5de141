import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The base of all images, made from packages of Debian 12. */
export const base = { directory: 'base', reference: 'quayside/debian:12', suite: 'bookworm' }

/**
 * Images by their names: databases by the API's name of their type, and engines of stacks.
 * `reference` names the series of versions. `stands` is the product, if it differs from the name.
 * `program` is a program of this machine that the image contains; `setting` names its path, if it
 * is not in PATH.
 * @type {Record<string, Recipe>}
 * @typedef {{ directory: string, reference: string, stands?: string } & Packed} Recipe
 * @typedef {{ program?: string, setting?: string }} Packed
 */
export const recipes = {
  postgresql: { directory: 'postgresql', reference: 'postgres:15' },
  mysql: { directory: 'mariadb', reference: 'mysql:10.11', stands: 'MariaDB' },
  redis: { directory: 'redis', reference: 'redis:7' },
  terraform: {
    directory: 'terraform',
    reference: 'hashicorp/terraform:1',
    stands: 'Terraform',
    program: 'terraform',
    setting: 'QUAYSIDE_TERRAFORM_BINARY',
  },
  opentofu: {
    directory: 'opentofu',
    reference: 'opentofu/opentofu:1',
    stands: 'OpenTofu',
    program: 'tofu',
    setting: 'QUAYSIDE_OPENTOFU_BINARY',
  },
}

/**
 * The databases without a recipe, and why.
 * @type {Record<string, string>}
 */
export const missing = {
  mongodb: 'Debian 12 has no package of a MongoDB server. If a registry is reachable, the official image is pulled.',
}

/** The builder, which is made of Go modules and not of packages. */
export const builderName = 'builder'

/**
 * Returns the recipes to build in their order: the given ones, or all if none is given. The builder
 * is made only if it is named, because its published image is usually fetched. Throws for an
 * unknown name.
 * @param {string[]} names
 */
export function chosen(names) {
  const usual = [...Object.keys(recipes), ...Object.keys(missing)]
  const known = [...usual, builderName]
  const unknown = names.find((name) => !known.includes(name))
  if (unknown) throw new Error(`The recipe "${unknown}" does not exist. Known recipes: ${known.join(', ')}.`)
  return names.length === 0 ? usual : known.filter((name) => names.includes(name))
}

/**
 * Returns the image's names with more of the package version: `postgres:15.14` for `postgres:15`
 * and `15.14-0+deb12u1`.
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
 * Returns the version of the package from the output of the build.
 * @param {string} output
 */
export const versionIn = (output) => /^version=(\S+)$/m.exec(output)?.[1]

/**
 * Returns the path of the program that a recipe packs: empty if it packs none, undefined if this
 * machine does not have it.
 * @param {Pick<Recipe, 'program' | 'setting'>} recipe
 * @param {Record<string, string | undefined>} variables
 */
export function programOf({ program, setting = '' }, variables) {
  if (program === undefined) return ''
  const inPath = (variables.PATH ?? '').split(delimiter).map((directory) => join(directory, program))
  return (variables[setting] ? [variables[setting]] : inPath).find((path) => existsSync(path))
}

/**
 * Returns a hash of the recipes. An image with the same hash need not be built again.
 * @param {string} root
 * @param {string[]} directories
 * @param {string} [program] the program that it packs
 */
export function fingerprint(root, directories, program) {
  const hash = createHash('sha256')
  if (program !== undefined) hash.update(readFileSync(program))
  for (const directory of directories) {
    const path = join(root, 'images', directory)
    for (const name of readdirSync(path).sort())
      hash.update(`${directory}/${name}\0`).update(readFileSync(join(path, name)))
  }
  return hash.digest('hex').slice(0, 16)
}
