import type { LineSink } from '../../lib/attempt.ts'
import { type Limit, startLimit } from '../../lib/deadline.ts'
import { EngineError } from '../engine.ts'
import { type Pod, plain } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { toPodState, type Waiting } from './pod-state.ts'
import { filesOf } from './task-input.ts'
import { explainWaiting, finalReason } from './waiting.ts'

/** How long the pod of a run may wait for a node and its images. */
const longestWaitSeconds = 900
/** The reason for which every pod waits at first. */
const usual = ['ContainerCreating', 'PodInitializing']

/** The wait of a run for its pod to begin. Disposing of it ends its limit. */
export interface RunWait extends Limit {
  /** Reports what the pod waits for. Throws EngineError if no further wait helps. */
  see(pod: Pod): void
}

/** Begins the wait of a run. Its signal is aborted with EngineError if it takes too long. */
export function startRunWait(
  { clock, helperImage }: Pick<KubeHost, 'clock' | 'helperImage'>,
  output: LineSink,
): RunWait {
  let told = ''
  const late = (): EngineError => {
    const why = told === '' ? '' : `: ${told}`
    return new EngineError('not-ready', `no node of the cluster took the run within ${longestWaitSeconds} s${why}`)
  }
  const limit = startLimit(clock, longestWaitSeconds * 1000, late)
  return {
    ...limit,
    see: (pod) => {
      const { waiting, image } = toPodState(pod)
      refuseHopeless(waiting, image, '')
      const helper = filesWaiting(pod)
      refuseHopeless(helper, helperImage, ' (QUAYSIDE_CLUSTER_TOOLS_IMAGE)')
      const now = [waiting, helper].find((one) => one && !usual.includes(one.reason))
      const text = now ? explainWaiting(now) : ''
      if (text !== '' && text !== told) output.line(`The run waits: ${text}.`, 'warning')
      told = text
    },
  }
}

/** Returns what the container waits for that keeps the files of a run. */
function filesWaiting(pod: Pod): Waiting | undefined {
  const { reason, message = '' } = filesOf(pod)?.state?.waiting ?? {}
  return reason === undefined ? undefined : { reason: plain(reason), message: plain(message) }
}

function refuseHopeless(waiting: Waiting | undefined, image: string, setting: string): void {
  const final = waiting && finalReason(waiting, image)
  if (final) throw new EngineError(final.reason, `${final.message}${setting}`)
}
