// `npm run upgrade`: downloads the newest version beside this one, checks it on a copy of the
// database, and switches to it only if the check succeeds.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { join } from 'node:path'
import { openCheckout } from './checkout.mjs'
import { dataDirectoryOf, lockDataDirectory, readJson } from './data-directory.mjs'
import { findNode, installDependencies } from './dependencies.mjs'
import { codeOf } from './error-code.mjs'
import { execute, handOver } from './execute.mjs'
import { refuseSharers } from './lock-holder.mjs'
import { readOptions } from './options.mjs'
import { root } from './prepare.mjs'
import { main, Refusal, step } from './progress.mjs'
import { describeUpgrade, refuseUpgrade } from './upgrade-plan.mjs'

/** How much a checkout and its check take in addition to packages. */
const marginBytes = 256 * 1024 ** 2

await main(async () => {
  readOptions([])
  const directory = dataDirectoryOf()
  const checkout = openCheckout(root)
  await checkout.mustBeClean()
  if (readJson(directory, 'rollback.json')) {
    throw new Refusal('A rollback was interrupted. Run "npm run rollback-upgrade" again to finish it first.')
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
  await upgrade(checkout, directory, change)
  return 0
})

/**
 * Prepares and checks the new version, and switches to it unless a server runs.
 * @param {ReturnType<typeof openCheckout>} checkout
 * @param {string} directory
 * @param {{ head: string, target: string }} change
 */
async function upgrade(checkout, directory, { head, target }) {
  // If no server runs, the lock is held to the end: no server may start on files that are being
  // replaced.
  refuseSharers(directory)
  const lock = await lockDataDirectory(directory)
  const beside = await getBeside(checkout, directory, target)
  await check(beside, directory)
  if (!lock) {
    throw new Refusal(
      `${target} is ready and was checked. Nothing was changed, because a server is using ${directory}. ` +
        'Stop it with npm stop, and run the command again. Services keep running.',
    )
  }
  await switchTo({ checkout, beside, directory, head, target })
  lock.close()
}

/**
 * Fetches the remote and returns what the newest version changes.
 * @param {ReturnType<typeof openCheckout>} checkout
 */
async function findChange(checkout) {
  const upstream = await checkout.git('rev-parse', '--abbrev-ref', '@{upstream}').catch(() => {
    throw new Refusal(
      'The current branch does not follow a remote branch. Switch to one that does (git switch main), and try again.',
    )
  })
  await step('Looking for a newer version', () => checkout.git('fetch', '--quiet'))
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
 * Returns the free and the needed space. The packages of both versions are about the same size.
 * @param {string} directory
 */
async function measure(directory) {
  const place = join(directory, 'versions')
  const { bavail, bsize } = statfsSync(place)
  const { output } = await execute('du', ['--summarize', '--block-size=1', join(root, 'node_modules')])
  return { place, freeBytes: bavail * bsize, neededBytes: (Number.parseInt(output, 10) || 0) + marginBytes }
}

/**
 * Returns a work tree of the commit with its packages. Reuses the one of an earlier attempt.
 * @param {ReturnType<typeof openCheckout>} checkout
 * @param {string} directory
 * @param {string} commit
 */
async function getBeside(checkout, directory, commit) {
  const versions = join(directory, 'versions')
  const beside = join(versions, commit)
  await keepOnly(checkout, directory, commit)
  const tree = openCheckout(beside)
  // An interrupted checkout lacks files.
  const isThere = existsSync(beside) && (await tree.mustBeClean().then(tree.head, () => undefined)) === commit
  if (!isThere) {
    await removeTree(checkout, beside)
    await step(`Checking out ${commit} in ${beside}`, () => checkout.git('worktree', 'add', '--detach', beside, commit))
  }
  await installDependencies(beside)
  return beside
}

/**
 * Removes the work trees of earlier attempts, except the one of the commit.
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
 * Runs the new version's own check. Throws a Refusal if it fails.
 * @param {string} beside
 * @param {string} directory
 */
async function check(beside, directory) {
  const node = await findNode(beside)
  // Code compiled by the first check, while a server runs, makes the second one faster.
  const compiled = join(beside, '.quayside', 'compiled')
  const env = { NODE_COMPILE_CACHE: compiled, ...process.env, QUAYSIDE_DATA: directory }
  const code = await handOver(node, [join(beside, 'server', 'check-upgrade.ts')], env)
  if (code !== 0) throw new Refusal('The new version would not start here, for the reason above. Nothing was changed.')
}

/**
 * @typedef {{ beside: string, directory: string, head: string, target: string }} Switch
 * @param {Switch & { checkout: ReturnType<typeof openCheckout> }} change
 */
async function switchTo({ checkout, beside, directory, head, target }) {
  await checkout.git('merge', '--ff-only', '--quiet', target)
  await movePackages(beside, directory)
  await removeTree(checkout, beside)
  console.log(`\nThis is ${target} now; ${head} ran before. Start it: npm start
To roll back, with the previous database: npm run rollback-upgrade`)
}

/**
 * Replaces the packages by two renames. If the directories are on different file systems, the
 * packages are installed again. After a kill between the renames, the next start installs them.
 * @param {string} beside
 * @param {string} directory
 */
async function movePackages(beside, directory) {
  const [packages, previous] = [join(root, 'node_modules'), join(directory, 'versions', 'previous-packages')]
  try {
    if (existsSync(packages)) renameSync(packages, previous)
    renameSync(join(beside, 'node_modules'), packages)
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error
    await installDependencies(root)
  }
  rmSync(previous, { recursive: true, force: true })
}
