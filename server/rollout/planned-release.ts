import { BuildError } from '../builders/index.ts'
import { buildOf, findRelease, type ReleaseRow } from '../releases/index.ts'
import { repositoryOf } from '../requests/index.ts'
import { findPlan, type OpenPlan, staleText } from '../stacks/index.ts'
import { copyOnce } from './copied-release.ts'
import { contentChanges } from './plan-changes.ts'
import type { Recipe, Work } from './recipe.ts'

/** The longest time that a deployment waits for a repository. */
const gitSeconds = 300

/**
 * Copies the version whose plan a request applies, under a new id, with its image, variables and
 * secrets. Throws BuildError if commit, settings or variables have changed since the plan was made.
 */
export async function plannedRelease(options: Recipe, work: Work, releaseId: string): Promise<string> {
  const { target, step, report } = work
  report.enter('Build')
  const found = await findRelease(options.database, releaseId)
  const plan = await findPlan(options.database, { serviceId: target.service_id, releaseId })
  if (!found || !plan) throw new BuildError('failed', 'The version of the plan is no longer kept. Plan it again.')
  await step(`${target.service_id}/PIN`, ({ signal }) => checkCommit(options, work, { release: found, plan }, signal), {
    deadlineSeconds: gitSeconds,
  })
  const id = await copyOnce(options, work, async (sql, service) => {
    const release = await findRelease(sql, releaseId)
    if (!service || !release?.image) throw new BuildError('failed', 'The version of the plan is no longer kept.')
    const stale = staleText(plan, await contentChanges({ ...options, database: sql }, service, release))
    if (stale !== undefined) throw new BuildError('failed', stale)
    return { release, configVersion: service.config_version }
  })
  report.line(`Deploying the version of the plan of run ${plan.id}, with its commit and image.`)
  report.enter('Built')
  return id
}

interface Shown {
  readonly release: ReleaseRow
  readonly plan: OpenPlan
}

/** Throws BuildError if the branch has another commit than the plan. A named commit counts. */
async function checkCommit(options: Recipe, work: Work, { release, plan }: Shown, signal: AbortSignal): Promise<void> {
  const build = buildOf(release)
  if (work.target.wanted_commit !== null || !build) return
  const { database, readCredential, git } = options
  const repository = await repositoryOf(database, readCredential, work.organizationId, build.repository)
  work.report.line(`Reading ${repository.url}.`)
  const { branch, commit } = await git.resolveHead(repository, signal)
  if (commit === plan.commit) return
  const change = `commit (branch "${branch}" is at ${commit.slice(0, 12)})`
  throw new BuildError('failed', staleText(plan, [change]) ?? change)
}
