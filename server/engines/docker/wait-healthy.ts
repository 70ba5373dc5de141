import type { LineSink } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { masker } from '../../lib/masker.ts'
import { nobodyWaits } from '../../lib/nobody-waits.ts'
import { EngineError, type LongRunning, secretsIn } from '../engine.ts'
import { readinessProbe, replicaError, settleMs, verdict } from '../health.ts'
import { execIn, lastLines } from './container-output.ts'
import { inspectContainer, startContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import type { Events, News } from './events.ts'
import { explainListeners, listenersOf } from './listening-ports.ts'
import { inspectPauseMs, leastCommandPauseMs, pauseMs } from './patience.ts'
import { describe, type ProbeOutcome, probe } from './probe.ts'
import type { ReplicaState } from './replica-state.ts'

export interface Waiting {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly events: Events
  readonly service: string
  /** Id of the container. */
  readonly container: string
  readonly workload: LongRunning
  /** In the clock's monotonic time. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
  readonly output: LineSink
}

/** After this time the log says what is missing, long before the deadline. */
const hintMs = 5000
/** How often a replica is inspected while the daemon sends events. */
const toldPauseMs = 1000
/** How far the first check may exceed the deadline: without it the reason would be unknown. */
const longestFirstCheckMs = 10_000

/**
 * The state that the two loops of one wait share. The inspecting loop writes `state`, the probing
 * loop writes the rest.
 */
interface View {
  state: ReplicaState
  /** Whether a check is in progress. */
  isAsking: boolean
  /** The result of the last check that ended. */
  answer?: ProbeOutcome
}

/**
 * Waits until the replica is healthy and returns its state. Throws EngineError('crashed' |
 * 'out-of-memory' | 'not-ready' | 'unreachable').
 */
export async function untilHealthy(waiting: Waiting): Promise<ReplicaState> {
  const view: View = { state: await look(waiting, waiting.signal), isAsking: false }
  const done = new AbortController()
  const signal = AbortSignal.any([waiting.signal, done.signal])
  try {
    return await Promise.race([ask(waiting, view, signal), watch(waiting, view, signal), giveUp(waiting, view, signal)])
  } finally {
    done.abort(nobodyWaits)
  }
}

async function look(waiting: Waiting, signal: AbortSignal): Promise<ReplicaState> {
  const { daemon, container } = waiting
  const state = await daemon.patiently(signal, () => inspectContainer(daemon, container, signal))
  if (!state) throw new EngineError('crashed', 'a container was removed while it was starting; deploy again')
  return state
}

async function ask(
  { clock, workload, daemon, container }: Waiting,
  view: View,
  signal: AbortSignal,
): Promise<ReplicaState> {
  const readiness = readinessProbe(workload)
  const periodMs = (readiness?.periodSeconds ?? 1) * 1000
  const exec = (command: readonly string[], ended: AbortSignal) => execIn(daemon, container, command, ended)
  const began = clock.monotonic()
  let since = { start: view.state.startedAt, ms: began, successes: 0 }
  for (;;) {
    const { state } = view
    if (since.start !== state.startedAt) since = { start: state.startedAt, ms: clock.monotonic(), successes: 0 }
    if (state.running && readiness && state.address !== undefined) {
      view.isAsking = true
      view.answer = await probe(readiness.check, { address: state.address, exec }, readiness.timeoutSeconds, signal)
      view.isAsking = false
      since.successes = view.answer.healthy ? since.successes + 1 : 0
      if (since.successes >= readiness.successThreshold) return state
    }
    if (state.running && !readiness && clock.monotonic() - since.ms >= settleMs) return state
    const silent = view.answer?.healthy === false && view.answer.silent
    const leastMs = readiness?.check.type === 'exec' ? leastCommandPauseMs : undefined
    const pause = pauseMs(clock.monotonic() - began, periodMs, silent, leastMs)
    await clock.sleep(since.successes > 0 ? periodMs : pause, signal)
  }
}

async function watch(waiting: Waiting, view: View, signal: AbortSignal): Promise<never> {
  const news = waiting.events.news(waiting.service)
  try {
    return await watchBy(news, waiting, view, signal)
  } finally {
    news.stop()
  }
}

async function watchBy(news: News, waiting: Waiting, view: View, signal: AbortSignal): Promise<never> {
  const { clock, workload } = waiting
  const began = clock.monotonic()
  const exitsBefore = view.state.running ? view.state.exits : 0
  let exitCode: number | undefined
  for (;;) {
    exitCode = view.state.exitCode ?? exitCode
    if (view.state.status === 'exited') {
      await startAgain(waiting, view.state, signal)
    } else {
      const failure = verdict(view.state, { exitsBefore, exitCode, memoryMiB: workload.memoryMiB })
      if (failure) throw await failed(waiting, view.state, failure.reason, failure.message)
    }
    await news.wait({ toldMs: toldPauseMs, untoldMs: inspectPauseMs(clock.monotonic() - began) }, signal)
    view.state = await look(waiting, signal)
  }
}

/**
 * Starts a stopped container again. Docker restarts exited containers itself, so one that stays
 * exited was stopped, perhaps by a platform that was killed during the stop.
 */
async function startAgain({ daemon, container, output }: Waiting, { replica }: ReplicaState, signal: AbortSignal) {
  output.line(`Replica ${replica} was stopped; it is started again`, 'warning')
  await daemon.patiently(signal, () => startContainer(daemon, container, signal))
}

async function giveUp(waiting: Waiting, view: View, signal: AbortSignal): Promise<never> {
  const { clock, workload, deadlineMs, output } = waiting
  await clock.sleep(Math.min(hintMs, Math.max(0, deadlineMs - clock.monotonic())), signal)
  output.line(`Not ready yet: ${await explain(workload, view)}`, 'warning')
  await clock.sleep(Math.max(0, deadlineMs - clock.monotonic()), signal)
  await untilAnswered(waiting, view, signal)
  throw await failed(
    waiting,
    view.state,
    'not-ready',
    `did not become ready within ${workload.startDeadlineSeconds} s: ${await explain(workload, view)}`,
  )
}

/**
 * Lets the first check finish after the deadline. Without any result the error could not name a
 * reason.
 */
async function untilAnswered({ clock, workload }: Waiting, view: View, signal: AbortSignal): Promise<void> {
  const limitMs = Math.min((readinessProbe(workload)?.timeoutSeconds ?? 0) * 1000, longestFirstCheckMs)
  const end = clock.monotonic() + limitMs
  while (view.state.running && view.answer === undefined && clock.monotonic() < end) await clock.sleep(25, signal)
}

async function explain(workload: LongRunning, { state, answer, isAsking }: View): Promise<string> {
  if (!state.running) return state.exits > 0 ? `it keeps exiting (${state.exits} times so far)` : 'it is not running'
  const readiness = readinessProbe(workload)
  const check = readiness?.check
  const listening =
    check && check.type !== 'exec' ? explainListeners(check.port, await listenersOf(state.pid)) : undefined
  if (listening !== undefined) return listening
  if (answer?.healthy === false) return answer.why
  if (readiness && answer) return `it must be healthy ${readiness.successThreshold} times in a row and is not yet`
  if (check && isAsking) return `${describe(check)} has no response yet`
  return state.address === undefined
    ? 'it has no address in the network of its environment'
    : `it has not run for ${settleMs / 1000} s yet`
}

async function failed(
  { daemon, container, workload }: Waiting,
  state: ReplicaState,
  reason: 'crashed' | 'out-of-memory' | 'not-ready',
  message: string,
): Promise<EngineError> {
  // The last lines are helpful, but a failure to read them must not hide the real failure.
  const lines = await lastLines(daemon, container, 20, AbortSignal.timeout(5_000)).catch(() => [])
  const mask = masker(secretsIn(workload))
  return replicaError(reason, `replica ${state.replica} ${message}`, lines.map(mask))
}
