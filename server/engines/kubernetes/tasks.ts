import type { Attempt } from '../../lib/attempt.ts'
import { startLimit } from '../../lib/deadline.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { masker } from '../../lib/masker.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { EngineError, type Release, type RunningTask, secretsIn, type Task, type TaskOutcome } from '../engine.ts'
import { kinds, type Pod } from './client/index.ts'
import { ensureEnvironment } from './environments.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { linesOfPod } from './last-lines.ts'
import { namespaceOf, runName } from './names.ts'
import { applyOwn, refuseForeign } from './own-objects.ts'
import { toPodState } from './pod-state.ts'
import { mainContainer } from './program.ts'
import { untilRefused } from './refused-run.ts'
import { end } from './retire.ts'
import { taskObjects } from './task-objects.ts'
import { readOutput } from './task-output.ts'
import { explainWaiting, finalReason } from './waiting.ts'

/** How long a run may wait for a node and its image beyond its own time limit. */
const longestWaitSeconds = 900

const placeOf = (release: Release<Task>, run: string) => ({
  namespace: namespaceOf(release.environment),
  name: runName(run),
})

const selectionOf = (run: string, instance: string) => ({ labels: ownLabels(instance, { [label.run]: run }) })

/** Refuses what only tasks of the shape `stack` use. The engine does not list that shape. */
export function refuseStacks(): never {
  throw new EngineError('refused', 'The engine of a cluster of Kubernetes does not run Terraform stacks.')
}

/** Creates the Job of a run, which does not begin. May be repeated. */
export async function prepareTask(
  host: KubeHost,
  release: Release<Task>,
  run: string,
  { signal }: Attempt,
): Promise<void> {
  if (release.workload.inputFiles || release.workload.outputFiles) refuseStacks()
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
  { signal, whenReady }: Attempt & { readonly whenReady?: () => Promise<void> },
): Promise<TaskOutcome> {
  const { kube, clock } = host
  const place = placeOf(release, run)
  if ((await findJob(host, place, signal)).spec.suspend) {
    await whenReady?.()
    // It may have been removed, or resumed by somebody else, while this process waited.
    await findJob(host, place, signal)
    await kube.patch(kinds.job, place, { spec: { suspend: false } }, signal)
  }
  failpoint('task.started')
  const limitSeconds = release.workload.timeoutSeconds + longestWaitSeconds
  const late = () => new EngineError('not-ready', `no node of the cluster took the run within ${limitSeconds} s`)
  using limit = startLimit(clock, limitSeconds * 1000, late)
  const pod = await untilEnded(host, release, run, AbortSignal.any([signal, limit.signal]))
  failpoint('task.ended')
  return outcomeOf(host, release, pod, signal)
}

async function findJob({ kube }: KubeHost, place: ReturnType<typeof placeOf>, signal: AbortSignal) {
  const job = await kube.get(kinds.job, place, signal)
  if (job && job.metadata.deletionTimestamp === undefined) return job
  throw new EngineError('refused', 'Somebody removed the job of the run. It is not begun again.')
}

/**
 * Waits until the program of a run has ended. Throws EngineError('refused') if the cluster creates
 * no pod.
 */
async function untilEnded(host: KubeHost, release: Release<Task>, run: string, outer: AbortSignal): Promise<Pod> {
  const done = new AbortController()
  const signal = AbortSignal.any([outer, done.signal])
  const selection = { ...selectionOf(run, host.instance), namespace: namespaceOf(release.environment) }
  let last: Pod | undefined
  const follow = async (): Promise<Pod> => {
    const wish = { kind: kinds.pod, selection, reduce: (pod: Pod) => pod }
    for await (const pods of followObjects(host, wish, signal)) {
      const [pod] = pods.values()
      if (pod && hasEnded(pod)) return pod
      if (pod) refuseHopeless(pod)
      if (last && !pod) throw new EngineError('crashed', 'Somebody removed the job of the run before its end.')
      last = pod
    }
    throw new EngineError('unreachable', 'the cluster no longer reports the run')
  }
  const refused = untilRefused(host, placeOf(release, run), () => last !== undefined, signal)
  try {
    return await Promise.race([follow(), refused])
  } finally {
    done.abort(nobodyWaits)
  }
}

const mainOf = ({ status }: Pod) => status?.containerStatuses?.find(({ name }) => name === mainContainer)

const hasEnded = (pod: Pod): boolean => {
  const isOver = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
  return mainOf(pod)?.state?.terminated !== undefined || (isOver && pod.status?.containerStatuses === undefined)
}

function refuseHopeless(pod: Pod): void {
  const { waiting, image } = toPodState(pod)
  const final = waiting && finalReason(waiting, image)
  if (final) throw new EngineError(final.reason, final.message)
}

async function outcomeOf(
  host: KubeHost,
  { workload }: Release<Task>,
  pod: Pod,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const ended = mainOf(pod)?.state?.terminated
  if (!ended) {
    const { waiting } = toPodState(pod)
    throw new EngineError('crashed', `the run never began: ${waiting ? explainWaiting(waiting) : 'no reason'}`)
  }
  const timedOut = pod.status?.reason === 'DeadlineExceeded'
  const state = toPodState(pod)
  const mask = masker(secretsIn(workload))
  const lines = await linesOfPod(host, state, false, signal)
  const result = timedOut ? {} : await readOutput(host, workload, state, signal)
  return {
    exitCode: ended.exitCode,
    outOfMemory: ended.reason === 'OOMKilled',
    timedOut,
    startedAt: new Date(ended.startedAt ?? pod.metadata.creationTimestamp ?? 0),
    finishedAt: new Date(ended.finishedAt ?? pod.metadata.creationTimestamp ?? 0),
    ...result,
    lastLines: lines.map(mask),
  }
}

/** Ends a run and removes its objects. */
export const endTask = (host: KubeHost, run: string, { signal }: Attempt): Promise<void> =>
  end(host, selectionOf(run, host.instance), () => true, signal)

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
