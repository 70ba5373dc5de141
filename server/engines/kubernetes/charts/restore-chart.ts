import type { Attempt } from '../../../lib/attempt.ts'
import { type ChartPlace, EngineError } from '../../engine.ts'
import { type Revision, repairOf } from './chart-history.ts'
import { helmRelease } from './chart-names.ts'
import type { HelmSession } from './helm-program.ts'
import { saidBy } from './render-chart.ts'

const repairMs = 120_000

/**
 * Brings a release whose last change failed or was cut off back to its last complete revision, or
 * removes it if there is none. The release `failed` of the platform is not such a revision. Hooks
 * do not run: they may be why it failed.
 */
export async function putRight(
  session: HelmSession,
  place: ChartPlace,
  { history, failed }: { readonly history: readonly Revision[]; readonly failed?: string | undefined },
  { signal, output }: Attempt,
): Promise<void> {
  const { name } = helmRelease(place)
  const repair = repairOf(history, failed)
  if (repair === undefined) return
  if (repair === 'uninstall') return runUninstall(session, place, signal)
  output.line(`Restoring the objects of the previous version (revision ${repair.rollbackTo}).`)
  const args = ['rollback', name, `${repair.rollbackTo}`, '--no-hooks', '--timeout', '60s']
  const { exitCode, stderr } = await session.run(args, { timeoutMs: repairMs, signal })
  if (exitCode === 0) return
  throw new EngineError('refused', `the previous version could not be restored: ${saidBy(stderr)}`)
}

/** Removes a release without its hooks. Does nothing if it is not installed. */
export async function runUninstall(session: HelmSession, place: ChartPlace, signal: AbortSignal): Promise<void> {
  const { name } = helmRelease(place)
  const args = ['uninstall', name, '--ignore-not-found', '--no-hooks', '--timeout', '60s']
  const { exitCode, stderr } = await session.run(args, { timeoutMs: repairMs, signal })
  if (exitCode !== 0) throw new EngineError('refused', `the chart could not be removed: ${saidBy(stderr)}`)
}
