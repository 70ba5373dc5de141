// `npm run images`: builds images of databases from Debian packages, under the names that the
// platform asks for, of the engines of stacks from programs of this machine, and of the builder
// from Go modules.
import { basename, dirname, resolve } from 'node:path'
import { builderReference, provideBuilder } from './builder-image.mjs'
import { engineAddress } from './docker.mjs'
import { engineImages, recipeLabel } from './engine-images.mjs'
import { messageOf } from './error-code.mjs'
import {
  base,
  builderName,
  chosen,
  fingerprint,
  furtherNames,
  missing,
  programOf,
  recipes,
  versionIn,
} from './image-recipes.mjs'
import { isApt, prepareSystem, provideProgram, root } from './prepare.mjs'
import { main, Refusal, step } from './progress.mjs'

await main(async () => {
  const args = process.argv.slice(2)
  const again = args.includes('--again')
  const names = choose(args.filter((arg) => arg !== '--again'))
  await prepareSystem()
  const images = engineImages(engineAddress(process.env.QUAYSIDE_DOCKER_HOST))
  for (const name of names) {
    if (name === builderName) await provideOwnBuilder(again)
    else if (missing[name]) console.log(`${name}: none. ${missing[name]}`)
    else await provide(images, name, again)
  }
  return 0
})

/** @param {boolean} again */
async function provideOwnBuilder(again) {
  const isMade = await provideBuilder(root, { isApt: isApt(), isRoot: process.getuid?.() === 0, again })
  console.log(`${builderName}: BuildKit, as ${builderReference}${isMade ? '' : ', is already built'}.`)
}

/** @param {string[]} names */
function choose(names) {
  try {
    return chosen(names.map((name) => name.toLowerCase()))
  } catch (error) {
    throw new Refusal(messageOf(error))
  }
}

/**
 * Builds the image unless this recipe's image exists. Images of a registry keep their names.
 * @param {ReturnType<typeof engineImages>} images
 * @param {string} name
 * @param {boolean} again
 */
async function provide(images, name, again) {
  const chosenRecipe = recipes[name]
  if (!chosenRecipe) throw new Refusal(`The recipe "${name}" does not exist.`)
  const { directory, reference, stands = reference } = chosenRecipe
  const program = programOf(chosenRecipe, process.env)
  if (program === undefined) {
    return console.log(`${name}: none. Set ${chosenRecipe.setting} to the program "${chosenRecipe.program}".`)
  }
  const recipe = fingerprint(root, [base.directory, directory], program || undefined)
  const labels = await images.labelsOf(reference)
  if (labels && !labels[recipeLabel]) return console.log(`${name}: ${reference} comes from a registry and is kept.`)
  if (labels?.[recipeLabel] === recipe && !again) return console.log(`${name}: ${reference} is already built.`)
  await provideBase(images, again)
  /** @type {import('./engine-images.mjs').Program} */
  const context = ['tar', ['-C', `images/${directory}`, '-c', ...contentOf(chosenRecipe, program)], { cwd: root }]
  const output = await step(`Building ${reference}`, () => images.build(context, { reference, recipe }))
  const version = versionIn(output)
  if (!version) throw new Refusal(`The recipe images/${directory} does not print "version=…".`)
  const names = furtherNames(reference, version)
  for (const further of names) {
    const there = await images.labelsOf(further)
    if (!there || there[recipeLabel]) await images.tag(reference, further)
  }
  console.log(`${name}: ${stands} on Debian 12, as ${[reference, ...names].join(', ')}`)
}

/**
 * Returns the arguments of tar for the files of a recipe, and for its program under its own name.
 * @param {import('./image-recipes.mjs').Recipe} recipe
 * @param {string | undefined} program
 */
function contentOf({ program: name }, program) {
  if (!program) return ['.']
  const renamed = `--transform=s,^${basename(program)}$,${name},`
  return ['--dereference', '.', renamed, '-C', dirname(resolve(program)), basename(program)]
}

/**
 * @param {ReturnType<typeof engineImages>} images
 * @param {boolean} again
 */
async function provideBase(images, again) {
  const recipe = fingerprint(root, [base.directory])
  if (!again && (await images.labelsOf(base.reference))?.[recipeLabel] === recipe) return
  await provideProgram('mmdebstrap', ['mmdebstrap', 'debian-archive-keyring'])
  const mirror = process.env.QUAYSIDE_DEBIAN_MIRROR
  const left = ['doc', 'man', 'info', 'locale'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
  const hooks = ['--customize-hook=copy-in images/base/policy-rc.d /usr/sbin']
  const args = ['--quiet', '--variant=minbase', ...left, ...hooks, base.suite, '-', ...(mirror ? [mirror] : [])]
  /** @type {import('./engine-images.mjs').Program} */
  const program = ['mmdebstrap', args, { cwd: root }]
  const options = { reference: base.reference, recipe }
  await step('Making the base image from packages of Debian 12 (about a minute)', () =>
    images.importFrom(program, options),
  )
}
