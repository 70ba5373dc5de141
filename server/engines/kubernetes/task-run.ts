import type { Attempt } from '../../lib/attempt.ts'
import { masker } from '../../lib/masker.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { EngineError, type Release, secretsIn, type Task, type TaskOutcome } from '../engine.ts'
import { endedWith } from '../program-rules.ts'
import { kinds, type Pod, plain, type Selection } from './client/index.ts'
import { followObjects } from './follow-objects.ts'
import type { KubeHost } from './host.ts'
import { label, ownLabels } from './labels.ts'
import { linesOfPod } from './last-lines.ts'
import { namespaceOf, runName } from './names.ts'
import { toPodState } from './pod-state.ts'
import { mainContainer } from './program.ts'
import { podRemoved, untilRefused } from './refused-run.ts'
import { endProgram, markRead } from './task-end.ts'
import { hasFiles } from './task-files.ts'
import { isKept, isRunning, sendInput, waitsForInput } from './task-input.ts'
import { readOutputs } from './task-output.ts'
import { startRunWait } from './task-waits.ts'
import { explainWaiting } from './waiting.ts'

export const placeOf = (release: Release<Task>, run: string) => ({
  namespace: namespaceOf(release.environment),
  name: runName(run),
})

/** Selects the objects of a run. */
export const selectionOf = (run: string, instance: string): Selection => ({
  labels: ownLabels(instance, { [label.run]: run }),
})

/**
 * Waits until the program of a run has ended, and returns its pod. Sends the input files before the
 * program begins. Reports what the pod waits for. Ends a program with files whose time is over.
 * Throws EngineError('refused') if the cluster creates no pod.
 */
export async function untilEnded(
  host: KubeHost,
  release: Release<Task>,
  run: string,
  { signal: outer, output }: Attempt,
): Promise<Pod> {
  const done = new AbortController()
  using wait = startRunWait(host, output)
  const signal = AbortSignal.any([outer, wait.signal, done.signal])
  const { workload } = release
  const selection = { ...selectionOf(run, host.instance), namespace: namespaceOf(release.environment) }
  const started = Promise.withResolvers<Pod>()
  let last: Pod | undefined
  const follow = async (): Promise<Pod> => {
    const wish = { kind: kinds.pod, selection, reduce: (pod: Pod) => pod }
    for await (const pods of followObjects(host, wish, signal)) {
      const [pod] = pods.values()
      if (pod && hasEnded(pod)) return pod
      if (pod) wait.see(pod)
      if (last && !pod) throw podRemoved()
      last = pod
      if (pod && hasFiles(workload) && waitsForInput(pod)) await sendInput(host, workload, pod, signal)
      if (!pod || !isRunning(pod)) continue
      wait[Symbol.dispose]()
      started.resolve(pod)
    }
    throw new EngineError('unreachable', 'the cluster no longer reports the run')
  }
  const refused = untilRefused(host, placeOf(release, run), () => last !== undefined, signal)
  const late = hasFiles(workload) ? [endLate(host, workload, started.promise, signal)] : []
  try {
    return await Promise.race([follow(), refused, ...late])
  } finally {
    done.abort(nobodyWaits)
  }
}

/** Ends a program when its time is over. Its end is seen by others. */
async function endLate(host: KubeHost, workload: Task, started: Promise<Pod>, signal: AbortSignal): Promise<never> {
  const pod = await started
  const { clock } = host
  const startedAt = Date.parse(mainOf(pod)?.state?.running?.startedAt ?? '')
  await clock.sleep(Math.max(0, startedAt + workload.timeoutSeconds * 1000 - clock.now().getTime()), signal)
  await endProgram(host, workload, pod, signal)
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
}

const mainOf = ({ status }: Pod) => status?.containerStatuses?.find(({ name }) => name === mainContainer)

export const hasEnded = (pod: Pod): boolean => {
  const isOver = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
  return mainOf(pod)?.state?.terminated !== undefined || isOver
}

/** Returns the outcome of a run whose program has ended. */
export async function outcomeOf(
  host: KubeHost,
  { workload }: Release<Task>,
  pod: Pod,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const ended = mainOf(pod)?.state?.terminated
  const state = toPodState(pod)
  if (!ended || (hasFiles(workload) && !isKept(pod))) throw new EngineError('crashed', whyLost(pod))
  const startedAt = new Date(ended.startedAt ?? pod.metadata.creationTimestamp ?? 0)
  const finishedAt = new Date(ended.finishedAt ?? pod.metadata.creationTimestamp ?? 0)
  const isLate = finishedAt.getTime() - startedAt.getTime() >= workload.timeoutSeconds * 1000
  const timedOut = hasFiles(workload) ? isLate : pod.status?.reason === 'DeadlineExceeded'
  const mask = masker(secretsIn(workload))
  const lines = await linesOfPod(host, state, false, signal)
  const result =
    timedOut && !hasFiles(workload) ? {} : await readOutputs(host, endedWith(workload, ended.exitCode), state, signal)
  if (hasFiles(workload)) await markRead(host, pod, signal)
  return {
    exitCode: ended.exitCode,
    outOfMemory: ended.reason === 'OOMKilled',
    timedOut,
    startedAt,
    finishedAt,
    ...result,
    lastLines: lines.map(mask),
  }
}

/** Says why a pod has ended without the outcome of its run. */
function whyLost(pod: Pod): string {
  const { reason, message } = pod.status ?? {}
  const said = [reason, message].flatMap((text) => (text ? [plain(text)] : []))
  if (said.length > 0) return `The cluster ended the pod of this run. ${said.join(': ')}`
  if (mainOf(pod)?.state?.terminated) return 'Somebody removed the pod of this run before its files were read.'
  const { waiting } = toPodState(pod)
  return `the run never began: ${waiting ? explainWaiting(waiting) : 'no reason'}`
}
