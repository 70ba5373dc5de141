import type { Attempt } from '../../../lib/attempt.ts'
import { everyOne } from '../../../lib/every-one.ts'
import { type ChartPlace, EngineError } from '../../engine.ts'
import { type Kind, kinds } from '../client/index.ts'
import type { KubeHost } from '../host.ts'
import { chartLabels, helmRelease } from './chart-names.ts'
import { listChartPods } from './chart-pods.ts'
import type { HelmSession } from './helm-program.ts'
import { releaseClaims } from './keep-volumes.ts'
import { saidBy } from './render-chart.ts'
import { runUninstall } from './restore-chart.ts'

/** Time for the hooks of a chart that run before and after its end. */
const hookSeconds = 90
const pauseMs = 500

/** Kinds of which an uninstallation may leave objects: hooks, and kept ones. */
const left: readonly Kind[] = [
  kinds.deployment,
  kinds.statefulSet,
  kinds.daemonSet,
  kinds.cronJob,
  kinds.job,
  kinds.pod,
  kinds.service,
  kinds.configMap,
  kinds.secret,
  kinds.serviceAccount,
  kinds.roleBinding,
  kinds.role,
]

/** Uninstalls a chart with its hooks, and removes what that leaves. Volumes may be kept. */
export async function removeChart(
  host: KubeHost,
  session: HelmSession,
  { place, keepsVolumes }: { readonly place: ChartPlace; readonly keepsVolumes: boolean },
  { signal, output }: Attempt,
): Promise<void> {
  const { name, namespace } = helmRelease(place)
  if (keepsVolumes) await releaseClaims(host, place, signal)
  const args = ['uninstall', name, '--ignore-not-found', '--timeout', `${hookSeconds}s`]
  const { exitCode, stderr } = await session.run(args, { timeoutMs: (hookSeconds + 30) * 1000, signal })
  if (exitCode !== 0) {
    output.line(`Its hooks failed (${saidBy(stderr)}). It is removed without them.`, 'warning')
    await runUninstall(session, place, signal).catch((error: unknown) => {
      if (!(error instanceof EngineError) || !/no matches for kind|ensure CRDs/.test(error.message)) throw error
      output.line('The cluster no longer has a kind of its objects. The platform removes the others.', 'warning')
    })
  }
  const selection = { namespace, labels: chartLabels(place, host.instance) }
  for (const kind of keepsVolumes ? left : [...left, kinds.volumeClaim]) {
    const { items } = await host.kube.list(kind, selection, signal)
    await everyOne(items.map(({ metadata }) => host.kube.remove(kind, metadata, signal)))
  }
  while ((await listChartPods(host, place.service, signal)).length > 0) await host.clock.sleep(pauseMs, signal)
}
