import type { Attempt } from '../../../lib/attempt.ts'
import { failpoint } from '../../../lib/failpoint.ts'
import { masker } from '../../../lib/masker.ts'
import type { RunResult } from '../../../lib/run.ts'
import { type ChartRelease, EngineError, type RenderedObject } from '../../engine.ts'
import type { KubeHost } from '../host.ts'
import { label } from '../labels.ts'
import { lastLinesOf } from '../last-lines.ts'
import { acceptedArguments } from './chart-arguments.ts'
import { isInstalled, keptRevisions, readHistory } from './chart-history.ts'
import { chartLabels, helmRelease } from './chart-names.ts'
import { type ChartFailure, hopelessOf, listChartPods, unreadyOf } from './chart-pods.ts'
import { createDefinitions } from './create-definitions.ts'
import type { HelmSession } from './helm-program.ts'
import { ownChart } from './own-chart.ts'
import { saidBy } from './render-chart.ts'
import { putRight } from './restore-chart.ts'
import { resumePrograms } from './scale-chart.ts'

const lookMs = 2_000

/**
 * Installs the objects of a release with `helm upgrade --install`, and waits until they are ready.
 * Throws EngineError with what the pods say. What failed is undone.
 */
export async function installChart(
  host: KubeHost,
  session: HelmSession,
  { release, objects }: { readonly release: ChartRelease; readonly objects: readonly RenderedObject[] },
  attempt: Attempt,
): Promise<void> {
  const { signal, output } = attempt
  const checked = acceptedArguments(release.arguments)
  if ('refusal' in checked) throw new EngineError('refused', checked.refusal)
  const { name } = helmRelease(release)
  const history = await readHistory(host, release, signal)
  if (isInstalled(history, release.id)) return
  await putRight(session, release, { history }, attempt)
  await resumePrograms(host, release, signal)
  // Helm ignores them if it has installed the chart before.
  if (history.length > 0) await createDefinitions(host, objects, signal)
  for (const [path, content] of ownChart(release, objects, host.instance)) await session.write(`own/${path}`, content)
  const args = [
    ...['upgrade', name, 'own', '--install', '--namespace', helmRelease(release).namespace],
    ...['--labels', labelsOfRecord(release, host.instance)],
    ...['--history-max', `${keptRevisions}`, '--description', release.id],
    ...['--wait', '--timeout', `${release.timeoutSeconds}s`, ...checked.accepted],
  ]
  output.line(`Applying ${objects.length} objects; waiting up to ${release.timeoutSeconds} s until they are ready.`)
  failpoint('chart.installing')
  const { result, hopeless } = await untilReady(host, session, { release, args }, signal)
  if (result?.exitCode === 0) return
  const error = await explain(host, release, result, hopeless, signal)
  await putRight(session, release, { history: await readHistory(host, release, signal) }, attempt)
  throw error
}

/**
 * The labels of the record of a release, by which the cluster tells that a chart is installed, and
 * in which version.
 */
const labelsOfRecord = (release: ChartRelease, instance: string): string =>
  Object.entries({ ...chartLabels(release, instance), [label.release]: release.id })
    .map(([name, value]) => `${name}=${value}`)
    .join()

/** Runs `helm`, and ends it early if the pods show that waiting does not help. */
async function untilReady(
  host: KubeHost,
  session: HelmSession,
  { release, args }: { readonly release: ChartRelease; readonly args: readonly string[] },
  outer: AbortSignal,
): Promise<{ readonly result?: RunResult; readonly hopeless?: ChartFailure }> {
  const end = new AbortController()
  const signal = AbortSignal.any([outer, end.signal])
  const found: { hopeless?: ChartFailure } = {}
  const before = new Map((await listChartPods(host, release.service, signal)).map(({ name, exits }) => [name, exits]))
  const watch = async (): Promise<void> => {
    while (!signal.aborted) {
      await host.clock.sleep(lookMs, signal).catch(() => {})
      const pods = await listChartPods(host, release.service, signal).catch(() => [])
      const hopeless = signal.aborted ? undefined : hopelessOf(pods, before)
      if (hopeless) found.hopeless = hopeless
      if (hopeless) end.abort()
    }
  }
  const watching = watch()
  try {
    const limits = { timeoutMs: (release.timeoutSeconds + 60) * 1000, signal }
    return { result: await session.run(args, limits) }
  } catch (error) {
    outer.throwIfAborted()
    if (found.hopeless) return { hopeless: found.hopeless }
    throw error
  } finally {
    end.abort()
    await watching
  }
}

async function explain(
  host: KubeHost,
  release: ChartRelease,
  result: RunResult | undefined,
  hopeless: ChartFailure | undefined,
  signal: AbortSignal,
): Promise<EngineError> {
  const mask = masker(release.secrets)
  const said = saidBy(result?.stderr ?? '')
  const isLate = /context deadline exceeded|timed out|not ready/.test(said)
  const why = hopeless ?? (isLate ? unreadyOf(await listChartPods(host, release.service, signal)) : undefined)
  if (!why) return new EngineError(isLate ? 'not-ready' : 'refused', `the chart was not installed: ${mask(said)}`)
  const late = hopeless ? '' : ` within ${release.timeoutSeconds} s`
  const lines = await lastLinesOf(host, why.pod, AbortSignal.timeout(5_000)).catch(() => [])
  return new EngineError(why.reason, mask(`the chart did not become ready${late}: ${why.message}`), {
    lastLines: lines.map(mask),
  })
}
