import { parts } from './image-parts.mjs'
import { Refusal } from './progress.mjs'

/**
 * Pure: returns the images to make, all if none is named, and the place to push them to. Throws a
 * Refusal for others.
 * @param {readonly string[]} args
 */
export function chosenParts(args) {
  const at = args.indexOf('--push')
  const push = at < 0 ? undefined : args[at + 1]
  if (at >= 0 && !/^[^\s/-][^\s/]*(?:\/[^\s/]+)+$/.test(push ?? '')) {
    throw new Refusal('--push needs a place as in --push registry.example.org/quayside.')
  }
  const names = at < 0 ? [...args] : [...args.slice(0, at), ...args.slice(at + 2)]
  const unknown = names.find((name) => !Object.hasOwn(parts, name))
  if (unknown !== undefined) {
    const known = Object.keys(parts).join(', ')
    throw new Refusal(`There is no image "${unknown}". Known images: ${known}. The only option is --push HOST/PATH.`)
  }
  return { names: names.length > 0 ? names : Object.keys(parts), push }
}
