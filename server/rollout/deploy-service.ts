import { isChartKind, isStackKind, isTaskKind } from '@quayside/contract/services/kinds.ts'
import { tryOut } from './canary.ts'
import { installChart, type MadeChart, makeChart } from './deploy-chart.ts'
import { deployStack } from './deploy-stack.ts'
import { diffChart, isDiff } from './diff-chart.ts'
import { finishDeployment } from './finish-deployment.ts'
import { startJob } from './job-start.ts'
import { makeRelease } from './make-release.ts'
import { moveTraffic } from './move-traffic.ts'
import type { Recipe, Work } from './recipe.ts'
import { retireFormer } from './retire-former.ts'
import { settle } from './settle.ts'
import { loadFrozen, startHealthy } from './start-release.ts'
import { stillHealthy } from './still-healthy.ts'

/** What the deployment of a service has to do with the other services of its request. */
export interface Among {
  /** Returns the release that was prepared while an earlier stage was starting, if there is one. */
  readonly prepared: (work: Work) => Promise<string | undefined>
  /** Is called when the engine begins to start the service. */
  readonly whenBegun: () => void
  /** Ends with the request: later stages do not wait for it. */
  readonly beside: (ending: Promise<void>) => void
}

/**
 * Deploys or restarts one service. These are all steps, in order; each is recorded under the name
 * beside it, and a process that takes over runs those without a record. At `yield` the service
 * waits until all services of its stage have a release. Returns whether the service is up. When a
 * step fails, `settle` undoes what it left and keeps the previous release.
 */
export async function* deployService(options: Recipe, work: Work, among: Among): AsyncGenerator<'built', boolean> {
  // PIN, FREEZE, FETCH_CHART, RENDER, DIFF, FINISH
  if (isDiff(work)) return diffChart(options, work)
  const made: { release?: string; chart?: MadeChart } = {}

  const isBuilt = await settle(options, work, async () => {
    // PIN, FREEZE, FETCH_CHART, RENDER
    if (isChartKind(work.target.kind)) made.chart = await makeChart(options, work)
    // PIN, FREEZE, FIND_IMAGE, GIT_CLONE, FIND_BUILT, BUILD, PUBLISH; or FREEZE, MIRROR_IMAGE
    else made.release = (await among.prepared(work)) ?? (await makeRelease(options, work))
  })
  if (!isBuilt) return false
  yield 'built'

  const isUp = await settle(options, work, async () => {
    if (made.chart) return installChart(options, work, made.chart) // DEPLOYMENT, FINISH
    if (made.release === undefined) return
    if (isStackKind(work.target.kind)) return deployStack(options, work, made.release)
    if (isTaskKind(work.target.kind)) return startJob(options, work, made.release)
    const frozen = await loadFrozen(options, work, made.release)
    const healthy = await startHealthy(options, work, frozen, among.whenBegun) // DEPLOYMENT
    const isKept = healthy.release !== frozen.release.id
    if (!isKept) await tryOut(options, work, frozen.release, healthy) // CANARY, if the service has steps
    // STILL_HEALTHY, unless the running release is kept
    const endpoints = isKept ? healthy.endpoints : await stillHealthy(options, work, healthy, frozen.deadline)
    await moveTraffic(options, work, { release: healthy.release, endpoints, isKept }) // ROUTER_DEPLOYMENT
    await finishDeployment(options, work, { release: frozen.release, serving: healthy.release }) // FINISH
  })
  // A service that was never deployed has no previous release to drain and end.
  if (isUp && work.target.former_state !== 'READY') among.beside(retireFormer(options, work)) // RETIRE
  return isUp
}
