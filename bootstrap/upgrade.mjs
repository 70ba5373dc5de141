// `npm run upgrade`: gets the newest version beside this one, checks it on a copy of the database, and only then switches to it.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { openCheckout } from './checkout.mjs'
import { dataDirectoryOf, lockDataDirectory, readJson } from './data-directory.mjs'
import { findNode, installDependencies } from './dependencies.mjs'
import { codeOf } from './error-code.mjs'
import { execute, handOver } from './execute.mjs'
import { root } from './prepare.mjs'
import { main, Refusal, step } from './progress.mjs'
import { describeUpgrade, refuseUpgrade } from './upgrade-plan.mjs'

/** What a checkout and its check take beside packages. */
const marginBytes = 256 * 1024 ** 2

await main(async () => {
  const directory = dataDirectoryOf()
  const checkout = openCheckout(root)
  await checkout.mustBeClean()
  if (readJson(directory, 'rollback.json')) {
    throw new Refusal(
      `A rollback was cut off. Give "npm run rollback-upgrade" again first, which goes on where it was.`,
    )
  }
  const change = await findChange(checkout)
  if (change.head === change.target) {
    await keepOnly(checkout, directory, undefined)
    console.log(`${change.upstream} has nothing newer than ${change.head}.`)
    return 0
  }
  console.log(describeUpgrade(change))
  mkdirSync(join(directory, 'versions'), { recursive: true, mode: 0o711 })
  const refusal = refuseUpgrade({ ...change, ...(await measure(directory)), nodeVersion: process.versions.node })
  if (refusal) throw new Refusal(refusal)
  // Held to the end where no server runs: none shall start on what is about to be exchanged.
  const lock = await lockDataDirectory(directory)
  const beside = await getBeside(checkout, directory, change.target)
  await check(beside, directory)
  if (!lock) {
    throw new Refusal(
      `${change.target} is ready and was checked; nothing was changed. A server runs on ${directory}: stop it (Ctrl-C, SIGTERM, or the supervisor that started it), and give the command again. Applications go on.`,
    )
  }
  await switchTo({ checkout, beside, directory, ...change })
  lock.close()
  return 0
})

/**
 * What the branch's remote has, asked now.
 * @param {ReturnType<typeof openCheckout>} checkout
 */
async function findChange(checkout) {
  const upstream = await checkout.git('rev-parse', '--abbrev-ref', '@{upstream}').catch(() => {
    throw new Refusal(
      'This checkout is on no branch that follows one of a remote. Switch to one (git switch main), and try again.',
    )
  })
  await step('Asking for newer versions', () => checkout.git('fetch', '--quiet'))
  const [head, target] = [await checkout.head(), await checkout.commit('@{upstream}')]
  const known = await checkout.migrations(head)
  return {
    head,
    target,
    upstream,
    isAncestor: await checkout.isAncestor(head, target),
    commits: await checkout.commits(head, target),
    migrations: (await checkout.migrations(target)).filter((name) => !known.includes(name)),
    wantedNode: (await checkout.packageOf(target)).engines?.node,
  }
}

/**
 * The packages of the new version take about what those of this one take.
 * @param {string} directory
 */
async function measure(directory) {
  const place = join(directory, 'versions')
  const { bavail, bsize } = statfsSync(place)
  const { output } = await execute('du', ['--summarize', '--block-size=1', join(root, 'node_modules')])
  return { place, freeBytes: bavail * bsize, neededBytes: (Number.parseInt(output, 10) || 0) + marginBytes }
}

/**
 * A work tree of its own with its own packages; what an earlier attempt made ready is used.
 * @param {ReturnType<typeof openCheckout>} checkout
 * @param {string} directory
 * @param {string} commit
 */
async function getBeside(checkout, directory, commit) {
  const versions = join(directory, 'versions')
  const beside = join(versions, commit)
  await keepOnly(checkout, directory, commit)
  const tree = openCheckout(beside)
  // One that was cut off lacks files.
  const isThere = existsSync(beside) && (await tree.mustBeClean().then(tree.head, () => undefined)) === commit
  if (!isThere) {
    await removeTree(checkout, beside)
    await step(`Getting ${commit} into ${beside}`, () => checkout.git('worktree', 'add', '--detach', beside, commit))
  }
  await installDependencies(beside)
  return beside
}

/**
 * Of what earlier attempts made ready; a switch that was cut off leaves its own.
 * @param {ReturnType<typeof openCheckout>} checkout
 * @param {string} directory
 * @param {string | undefined} commit
 */
async function keepOnly(checkout, directory, commit) {
  const versions = join(directory, 'versions')
  const names = existsSync(versions) ? readdirSync(versions) : []
  for (const name of names) if (name !== commit) await removeTree(checkout, join(versions, name))
}

/**
 * @param {ReturnType<typeof openCheckout>} checkout
 * @param {string} path
 */
async function removeTree(checkout, path) {
  rmSync(path, { recursive: true, force: true })
  await checkout.git('worktree', 'prune')
}

/**
 * The new version says itself whether it would start here.
 * @param {string} beside
 * @param {string} directory
 */
async function check(beside, directory) {
  const node = await findNode(beside)
  // The first check, while a server runs, spares the second one time.
  const compiled = join(beside, '.quayside', 'compiled')
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env, QUAYSIDE_DATA: directory }
  const code = await handOver(node, [join(beside, 'server', 'check-upgrade.ts')], env)
  if (code !== 0) throw new Refusal('The new version would not start here, for the reason above. Nothing was changed.')
}

/** @param {{ checkout: ReturnType<typeof openCheckout>, beside: string, directory: string, head: string, target: string }} change */
async function switchTo({ checkout, beside, directory, head, target }) {
  await checkout.git('merge', '--ff-only', '--quiet', target)
  await movePackages(beside, directory)
  await removeTree(checkout, beside)
  console.log(`\nThis is ${target} now; ${head} ran before. Start it: npm start
The way back, with the database as it was: npm run rollback-upgrade`)
}

/**
 * As one step each. Where the two are on different file systems they are installed anew; after a kill in between, by the next start.
 * @param {string} beside
 * @param {string} directory
 */
async function movePackages(beside, directory) {
  const [packages, former] = [join(root, 'node_modules'), join(directory, 'versions', 'former-packages')]
  try {
    if (existsSync(packages)) renameSync(packages, former)
    renameSync(join(beside, 'node_modules'), packages)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    await installDependencies(root)
  }
  rmSync(former, { recursive: true, force: true })
}
