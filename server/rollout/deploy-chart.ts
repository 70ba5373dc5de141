import type { ChartRelease, ChartRunner, Endpoint, RenderedObject } from '../engines/index.ts'
import { EngineError } from '../engines/index.ts'
import { failpoint } from '../lib/failpoint.ts'
import { masker } from '../lib/masker.ts'
import type { Secret } from '../lib/secret.ts'
import {
  findDeployedRelease,
  findRelease,
  findReleaseOf,
  freeze,
  type ReleaseRow,
  setReleaseImage,
  sorted,
} from '../releases/index.ts'
import { enterState, setTargetCommit } from '../requests/index.ts'
import { findService } from '../services/index.ts'
import { type DiffSummary, summarizeDiff } from './chart-diff-summary.ts'
import { engineChart } from './chart-release.ts'
import { type ChartPin, type FetchedChart, fetchChart, pinChart } from './chart-source.ts'
import { findChartEndpoints, followChartPods, idlePorts } from './chart-traffic.ts'
import { chartWarnings } from './chart-warnings.ts'
import { formerRelease, repeatRelease } from './copied-release.ts'
import { moveTraffic } from './move-traffic.ts'
import { setServing } from './outcome-store.ts'
import { explainLate, type Recipe, type Work, whileUnreachable } from './recipe.ts'
import { finishTarget } from './settle.ts'
import { inTurn } from './turn.ts'

type HelmRelease = ReleaseRow & { readonly kind: 'helm' }

/** A chart that is ready to be installed. A process that continues reads it again. */
export interface MadeChart {
  readonly release: string
  readonly pin: ChartPin
  readonly loaded: { fetched?: FetchedChart; release?: ChartRelease; objects?: readonly RenderedObject[] }
}

const fetchSeconds = 300
const renderSeconds = 300

/**
 * Makes the release of a chart: `PIN` resolves its branches, `FREEZE` stores settings, variables
 * and commit, `FETCH_CHART` reads its files, `RENDER` renders and checks its objects. Nothing is
 * changed on the cluster.
 */
export async function makeChart(options: Recipe, work: Work): Promise<MadeChart> {
  const { target, step, report } = work
  const id = target.service_id
  report.enter('Deploy')
  const { release, pin } = await pinAndFreeze(options, work)
  const made: MadeChart = { release, pin, loaded: {} }
  await explainLate(
    step(`${id}/FETCH_CHART`, ({ signal }) => fetchOnce(options, work, made, signal), {
      deadlineSeconds: fetchSeconds,
    }),
    () => new EngineError('unreachable', `The chart was not fetched within ${fetchSeconds} s. Deploy again.`),
  )
  await explainLate(
    step(`${id}/RENDER`, ({ signal }) => renderOnce(options, work, made, signal), { deadlineSeconds: renderSeconds }),
    () => new EngineError('refused', `The chart was not rendered within ${renderSeconds} s. Make it smaller.`),
  )
  failpoint('chart.rendered')
  return made
}

/**
 * `DEPLOYMENT` installs the objects and waits until they are ready. `ROUTER_DEPLOYMENT` leads the
 * public ports to its pods. `FINISH` records the end.
 */
export async function installChart(options: Recipe, work: Work, made: MadeChart): Promise<void> {
  const { target, step, request, context } = work
  const id = target.service_id
  const row = await helmRelease(options, made.release)
  const seconds = (row.settings.timeout_sec || 600) + 420
  const turn = { slots: options.slots.deployments, name: 'DEPLOYMENT_QUEUEING' } as const
  const state = request.action === 'RESTART' ? 'RESTARTING' : 'DEPLOYING'
  const endpoints = await inTurn(work, turn, () =>
    explainLate(
      step(
        `${id}/DEPLOYMENT`,
        async ({ signal }) => {
          await context.fenced((sql) => enterState(sql, target, state, { release_id: row.id }))
          await options.endRepair(id)
          return install(options, work, { ...made, row }, signal)
        },
        { deadlineSeconds: seconds },
      ),
      () => new EngineError('not-ready', `The chart was not installed within ${seconds} s. Deploy again.`),
    ),
  )
  for (const line of idlePorts(row.settings.ports, endpoints)) work.report.line(line, 'warning')
  if (row.settings.ports.length > 0) await moveTraffic(options, work, { release: row.id, endpoints, isKept: false })
  failpoint('finish.before')
  await step(`${id}/FINISH`, () => finish(options, work, row.id), { evenIfCanceled: true })
  failpoint('finish.after')
}

async function pinAndFreeze(options: Recipe, work: Work): Promise<Pick<MadeChart, 'release' | 'pin'>> {
  const { target, request, step, report } = work
  const former = target.wanted_release
  if (former !== null || request.action === 'RESTART') {
    const release = await (former === null ? repeatRelease(options, work) : formerRelease(options, work, former))
    return { release, pin: pinOf(await helmRelease(options, release)) }
  }
  const pin = await explainLate(
    step(`${target.service_id}/PIN`, ({ signal }) => pinOnce(options, work, signal), { deadlineSeconds: fetchSeconds }),
    () => new EngineError('unreachable', `The git repository did not answer within ${fetchSeconds} s. Deploy again.`),
  )
  if (pin.chart) report.line(`The chart is that of commit ${pin.chart.commit.slice(0, 12)}.`)
  if (pin.values !== null) report.line(`Its values are those of commit ${pin.values.slice(0, 12)}.`)
  return { pin, release: await step(`${target.service_id}/FREEZE`, () => freezeOnce(options, work, pin)) }
}

const pinOf = ({ commit, image }: ReleaseRow): ChartPin => ({
  chart: commit && { commit: commit.id, branch: commit.branch },
  values: image?.valuesCommit ?? null,
})

async function pinOnce(options: Recipe, work: Work, signal: AbortSignal): Promise<ChartPin> {
  const { target, context } = work
  if (target.stack_action !== 'PLAN') await context.fenced((sql) => enterState(sql, target, 'DEPLOYING'))
  const service = await findService(options.database, target.service_id)
  if (service?.kind !== 'helm') throw new Error(`service ${target.service_id} is gone, or not a chart`)
  const deployed = target.same_version ? await findDeployedRelease(options.database, service.id) : undefined
  const isSame = deployed?.kind === 'helm' && sorted(deployed.settings.source) === sorted(service.settings.source)
  return isSame ? pinOf(deployed) : pinChart(options, work, service.settings, signal)
}

/** Freezes once: a retry finds the release of the first try. */
function freezeOnce({ vault, clock }: Recipe, { request, target, context }: Work, pin: ChartPin): Promise<string> {
  return context.fenced(async (sql) => {
    const former = await findReleaseOf(sql, target.service_id, request.id)
    if (former) return former.id
    const service = await findService(sql, target.service_id)
    if (!service) throw new Error(`service ${target.service_id} is gone`)
    const now = clock.now()
    const plain = { created_at: now.toISOString(), message: '', author_name: '' }
    const commit = pin.chart && { ...plain, id: pin.chart.commit, branch: pin.chart.branch }
    if (commit) await setTargetCommit(sql, target, commit)
    return (await freeze(sql, vault, service, { id: request.id, commit, now })).id
  })
}

/** Records what the chart consists of, so that a rollback finds the same. */
async function fetchOnce(options: Recipe, work: Work, made: MadeChart, signal: AbortSignal): Promise<string> {
  const row = await helmRelease(options, made.release)
  const fetched = await fetchChart(options, work, row, made.pin, { signal, output: work.report })
  const { source } = row.settings
  const isCopy = row.copy_of !== null && row.image !== null
  if (isCopy && row.image?.digest !== fetched.digest) {
    throw new EngineError('refused', 'the repository has other content for that version now; deploy the chart instead')
  }
  const name =
    'helm_repository' in source
      ? `${source.helm_repository.chart_name}:${source.helm_repository.chart_version}`
      : `git:${made.pin.chart?.commit ?? ''}`
  const valuesCommit = made.pin.values === null ? {} : { valuesCommit: made.pin.values }
  const image = { reference: `chart/${name}`, digest: fetched.digest, ...valuesCommit }
  await work.context.fenced((sql) => setReleaseImage(sql, row.id, image))
  made.loaded.fetched = fetched
  return fetched.digest
}

async function renderOnce(options: Recipe, work: Work, made: MadeChart, signal: AbortSignal): Promise<string[]> {
  const row = await helmRelease(options, made.release)
  const { objects } = await load(options, work, { ...made, row }, signal)
  await warn(options, work, made, row)
  const names = objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
  work.report.line(`The chart renders ${names.length} object(s): ${shown(names)}.`)
  return names
}

/** An earlier version has its own variables, which have no references any more. */
async function warn(options: Recipe, { target, report }: Work, made: MadeChart, row: HelmRelease): Promise<void> {
  const service = target.wanted_release === null ? await findService(options.database, target.service_id) : undefined
  if (!service) return
  const warnings = await chartWarnings(options, service, row.settings.values_override, made.loaded.fetched?.values)
  for (const line of warnings) report.line(line, 'warning')
}

const mostShown = 20
const shown = (names: readonly string[]): string =>
  names.length <= mostShown ? names.join(', ') : `${names.slice(0, mostShown).join(', ')} and others`

type Loaded = MadeChart & { readonly row: HelmRelease }

/** Returns the release and its objects, which an earlier process may have fetched and rendered. */
async function load(
  options: Recipe,
  work: Work,
  { row, pin, loaded }: Loaded,
  signal: AbortSignal,
): Promise<{ readonly release: ChartRelease; readonly objects: readonly RenderedObject[] }> {
  const attempt = { signal, output: work.report }
  loaded.fetched ??= await fetchChart(options, work, row, pin, attempt)
  loaded.release ??= await engineChart(options, work, row, loaded.fetched)
  const { release } = loaded
  work.report.hide(release.secrets)
  loaded.objects ??= await whileUnreachable(options, signal, work.report, () =>
    chartsOf(options).render(release, attempt),
  )
  return { release, objects: loaded.objects }
}

/**
 * Returns what the installation of a made chart would change. Hides its own secrets, and these of
 * the installed version.
 */
export async function compareChart(
  options: Recipe,
  work: Work,
  { made, installed }: { readonly made: MadeChart; readonly installed: readonly Secret[] },
  signal: AbortSignal,
): Promise<DiffSummary> {
  const row = await helmRelease(options, made.release)
  const { release, objects } = await load(options, work, { ...made, row }, signal)
  const attempt = { signal, output: work.report }
  const changes = await whileUnreachable(options, signal, work.report, () =>
    chartsOf(options).diff(release, objects, attempt),
  )
  return summarizeDiff(changes, masker([...installed, ...release.secrets]))
}

/** Installs the objects. Returns the pods of the public ports. */
async function install(options: Recipe, work: Work, made: Loaded, signal: AbortSignal): Promise<readonly Endpoint[]> {
  const { release, objects } = await load(options, work, made, signal)
  options.collect(release.service, release.id, release.secrets)
  const attempt = { signal, output: work.report }
  const end = new AbortController()
  const following = followChartPods(options, work, release.ports, AbortSignal.any([signal, end.signal]))
  try {
    await whileUnreachable(options, signal, work.report, () => chartsOf(options).install(release, objects, attempt))
  } finally {
    end.abort()
    await following
  }
  return whileUnreachable(options, signal, work.report, () =>
    findChartEndpoints(options, release.service, release.ports, signal),
  )
}

/** Returns the charts of an engine. A service whose engine has none is refused before. */
export function chartsOf({ engine }: Pick<Recipe, 'engine'>): ChartRunner {
  if (engine.charts) return engine.charts
  throw new EngineError('refused', 'the engine of its cluster runs no Helm charts')
}

async function finish(options: Recipe, { target, request, context, report }: Work, id: string): Promise<void> {
  const now = options.clock.now()
  const release = await helmRelease(options, id)
  const restarts = request.action === 'RESTART'
  await context.fenced(async (sql) => {
    await finishTarget(sql, { target, state: restarts ? 'RESTARTED' : 'DEPLOYED', now })
    await setServing(sql, release, now)
  })
  report.enter(restarts ? 'Restarted' : 'Deployed')
  report.line('It is up.')
}

async function helmRelease({ database }: Recipe, id: string): Promise<HelmRelease> {
  const release = await findRelease(database, id)
  if (release?.kind !== 'helm') throw new Error(`release ${id} is gone, or not of a chart`)
  return release
}
