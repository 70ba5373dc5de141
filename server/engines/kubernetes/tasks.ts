import type { Attempt } from '../../lib/attempt.ts'
import { startLimit } from '../../lib/deadline.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { EngineError, type Release, type RunningTask, type Task, type TaskFile, type TaskOutcome } from '../engine.ts'
import { outputFileAt } from '../program-rules.ts'
import { kinds, type Pod } from './client/index.ts'
import { ensureEnvironment } from './environments.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { applyOwn, refuseForeign } from './own-objects.ts'
import { toPodState } from './pod-state.ts'
import { end } from './retire.ts'
import { endProgram, hasBegun, letPodEnd } from './task-end.ts'
import { filesContainer, keptFile } from './task-files.ts'
import { isKept, isRunning } from './task-input.ts'
import { taskObjects } from './task-objects.ts'
import { readFile } from './task-output.ts'
import { hasEnded, outcomeOf, placeOf, selectionOf, untilEnded } from './task-run.ts'

/** How long the end of a run may take to be reported, beyond its time limit. */
const marginSeconds = 1800

/** Creates the Job of a run, which does not begin. May be repeated. */
export async function prepareTask(
  host: KubeHost,
  release: Release<Task>,
  run: string,
  { signal }: Attempt,
): Promise<void> {
  const found = await host.kube.get(kinds.job, placeOf(release, run), signal)
  refuseForeign(host.instance, found)
  if (found) return
  const setting = await ensureEnvironment(host, release.environment, signal)
  for (const object of taskObjects(release, run, setting)) await applyOwn(host, object, signal)
  failpoint('task.created')
}

/** Resumes the Job of a run and waits for its end. See TaskRunner.runTask. */
export async function runTask(
  host: KubeHost,
  release: Release<Task>,
  run: string,
  attempt: Attempt & { readonly whenReady?: () => Promise<void> },
): Promise<TaskOutcome> {
  const { kube, clock } = host
  const { signal, whenReady, output } = attempt
  const place = placeOf(release, run)
  if ((await findJob(host, place, signal)).spec.suspend) {
    await whenReady?.()
    // It may have been removed, or resumed by somebody else, while this process waited.
    await findJob(host, place, signal)
    await kube.patch(kinds.job, place, { spec: { suspend: false } }, signal)
  }
  failpoint('task.started')
  const limitSeconds = release.workload.timeoutSeconds + marginSeconds
  const late = () =>
    new EngineError('not-ready', `the cluster did not report the end of the run within ${limitSeconds} s`)
  using limit = startLimit(clock, limitSeconds * 1000, late)
  const pod = await untilEnded(host, release, run, { output, signal: AbortSignal.any([signal, limit.signal]) })
  failpoint('task.ended')
  return outcomeOf(host, release, pod, signal)
}

async function findJob({ kube }: KubeHost, place: ReturnType<typeof placeOf>, signal: AbortSignal) {
  const job = await kube.get(kinds.job, place, signal)
  if (job && job.metadata.deletionTimestamp === undefined) return job
  throw new EngineError('crashed', 'Somebody removed the job of the run. It is not begun again.')
}

/** Ends the program of a run in order. See TaskRunner.stopTask. */
export async function stopTask(
  host: KubeHost,
  release: Release<Task>,
  run: string,
  attempt: Attempt,
): Promise<TaskOutcome | undefined> {
  const { workload } = release
  const { signal } = attempt
  const job = await findJob(host, placeOf(release, run), signal)
  const pod = await findPod(host, run, signal)
  if (!pod && job.spec.suspend) return undefined
  if (!pod) throw new EngineError('crashed', 'Somebody removed the pod of the run. It is not begun again.')
  if (!hasEnded(pod)) {
    if (!(await hasBegun(host, pod, signal))) return undefined
    await endProgram(host, workload, pod, signal)
  }
  return outcomeOf(host, release, await untilEnded(host, release, run, attempt), signal)
}

/** Reads an output file of a run as it is now. See TaskRunner.readTaskFile. */
export async function readTaskFile(
  host: KubeHost,
  { workload }: Release<Task>,
  { run, path }: { readonly run: string; readonly path: string },
  signal: AbortSignal,
): Promise<TaskFile | undefined> {
  const file = outputFileAt(workload, path)
  const pod = await findPod(host, run, signal)
  if (!pod) throw new EngineError('crashed', 'Somebody removed the pod of the run.')
  if (!isKept(pod)) return undefined
  const place = { namespace: pod.metadata.namespace ?? '', pod: pod.metadata.name, container: filesContainer }
  return readFile(host, place, { ...file, path: keptFile(workload, path) }, signal)
}

async function findPod({ kube, instance }: KubeHost, run: string, signal: AbortSignal): Promise<Pod | undefined> {
  const { items } = await kube.list(kinds.pod, selectionOf(run, instance), signal)
  return items[0]
}

/**
 * Lets the pod of a run end whose program has ended. Until then its program reserves processors and
 * memory of the node.
 */
export async function freeTask(host: KubeHost, run: string, { signal }: Attempt): Promise<void> {
  const pod = await findPod(host, run, signal)
  if (pod && isKept(pod) && hasEnded(pod)) await letPodEnd(host, pod, signal)
}

/** Ends a run and removes its objects. The files of a run are not needed any more. */
export async function endTask(host: KubeHost, run: string, { signal }: Attempt): Promise<void> {
  const pod = await findPod(host, run, signal)
  if (pod && isKept(pod)) {
    const { terminationGracePeriodSeconds: stopGraceSeconds = 10 } = pod.spec
    if (isRunning(pod)) await endProgram(host, { stopGraceSeconds }, pod, signal)
    await host.kube.remove(kinds.pod, pod.metadata, signal, { graceSeconds: 1, uid: pod.metadata.uid })
  }
  await end(host, selectionOf(run, host.instance), () => true, signal)
}

/** Lists the runs of which something is left. */
export async function listTasks({ kube, instance }: KubeHost, signal: AbortSignal): Promise<RunningTask[]> {
  const selection = { labels: ownLabels(instance) }
  const [{ items: jobs }, { items: pods }] = await Promise.all([
    kube.list(kinds.job, selection, signal),
    kube.list(kinds.pod, selection, signal),
  ])
  const running = new Set(pods.map(toPodState).flatMap((pod) => (pod.run !== undefined && pod.running ? pod.run : [])))
  return jobs.flatMap(({ metadata: { labels = {} } }) => {
    const [run, service] = [labels[label.run], labels[label.service]]
    return run === undefined || service === undefined ? [] : { run, service, running: running.has(run) }
  })
}
