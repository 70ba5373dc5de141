// `npm run rollback-upgrade`: goes back to the previous version and its database. The newer
// database is kept.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openCheckout } from './checkout.mjs'
import { dataDirectoryOf, readJson, writeJson } from './data-directory.mjs'
import { installDependencies } from './dependencies.mjs'
import { codeOf } from './error-code.mjs'
import { handOver } from './execute.mjs'
import { mustLock } from './lock-holder.mjs'
import { prepare, root } from './prepare.mjs'
import { main, Refusal } from './progress.mjs'
import { planRollback } from './rollback-plan.mjs'

await main(async () => {
  const directory = dataDirectoryOf()
  const checkout = openCheckout(root)
  await checkout.mustBeClean()
  const head = await checkout.head()
  const commit = await findCommit({ checkout, directory, head })
  if (!(await checkout.isAncestor(commit, head))) throw new Refusal(`${commit} is not an earlier version of ${head}.`)
  ;(await mustLock(directory)).close()
  console.log(`Rolling back from ${head} to ${commit}.`)
  const { node, env } = await prepare({ engine: false })
  const program = [join(root, 'server', 'start', 'restore-snapshot.ts'), commit, ...(await checkout.migrations(commit))]
  const code = await handOver(node, program, { ...env, QUAYSIDE_DATA: directory })
  if (code !== 0) return code
  await switchBack({ checkout, directory, head, commit })
  return 0
})

/** @param {{ checkout: ReturnType<typeof openCheckout>, directory: string, head: string }} where */
async function findCommit({ checkout, directory, head }) {
  const version = readJson(directory, 'version.json')
  const plan = planRollback({
    named: process.argv[2],
    mark: readJson(directory, 'rollback.json'),
    head,
    version,
    snapshot: newestSnapshot(join(directory, 'snapshots')),
  })
  if (plan.refusal) throw new Refusal(plan.refusal)
  const commit = plan.commit ?? (plan.before && (await checkout.commitBefore(plan.before)))
  if (!commit) {
    throw new Refusal(
      `The version before ${plan.before} is not in the history of ${head}. ` +
        'Name its commit: npm run rollback-upgrade -- <commit>',
    )
  }
  const found = await checkout.commit(commit)
  // An interrupted rollback may be continued to the commit that is already checked out.
  if (found === head && !readJson(directory, 'rollback.json'))
    throw new Refusal(`${head} is already checked out. There is nothing to roll back.`)
  return found
}

/** @param {string} snapshots */
function newestSnapshot(snapshots) {
  /** @type {string[]} */
  let names = []
  try {
    names = readdirSync(snapshots)
  } catch (error) {
    // No snapshot was ever taken.
    if (codeOf(error) !== 'ENOENT') throw error
  }
  const newest = names
    .filter((name) => !name.startsWith('.'))
    .sort()
    .at(-1)
  return newest && readJson(join(snapshots, newest), 'snapshot.json')
}

/**
 * Switches the checkout. The database is restored already, so any start works from then on.
 * @param {{ checkout: ReturnType<typeof openCheckout>, directory: string, head: string, commit:
 * string }} change
 */
async function switchBack({ checkout, directory, head, commit }) {
  ;(await mustLock(directory)).close()
  const { version } = await checkout.packageOf(commit)
  writeJson(directory, 'version.json', { version, commit, since: new Date().toISOString(), former: null })
  await checkout.git('reset', '--keep', commit)
  rmSync(join(directory, 'rollback.json'), { force: true })
  await installDependencies(root)
  console.log(`\nThis is ${commit} now. Start it: npm start
To upgrade again: npm run upgrade, or git merge --ff-only ${head}`)
}
