import { pack } from 'tar-stream'
import { EngineError, type Task } from '../engine.ts'
import { fed } from './archive-streams.ts'
import type { Pod } from './client/index.ts'
import type { KubeHost } from './host.ts'
import { mainContainer } from './program.ts'
import { filesContainer, keptFile, marks } from './task-files.ts'

/**
 * Unpacks the input files. The last entry of the archive lets the program begin, so a connection
 * that breaks leaves it waiting. A repetition changes nothing.
 */
const unpack = `[ ! -e ${marks.open} ] || exit 0; umask 022; exec tar -x -o -C / -f -`

/** Returns the state of the container that keeps the files of a run. */
export const filesOf = ({ status }: Pod) => status?.initContainerStatuses?.find(({ name }) => name === filesContainer)
const stateOf = ({ status }: Pod) => status?.containerStatuses?.find(({ name }) => name === mainContainer)?.state

/** Whether the container runs that keeps the files of a run. */
export const isKept = (pod: Pod): boolean => filesOf(pod)?.state?.running !== undefined

/** Whether the program of a run waits for its input files. */
export const waitsForInput = (pod: Pod): boolean => isKept(pod) && filesOf(pod)?.started !== true

/** Whether the program of a run is running now. */
export const isRunning = (pod: Pod): boolean => stateOf(pod)?.running !== undefined

/** Whether the program of a run has begun. It may have ended. */
export const hasStarted = (pod: Pod): boolean => isRunning(pod) || stateOf(pod)?.terminated !== undefined

/** Sends the input files to a run that waits for them. Throws EngineError. */
export async function sendInput(host: KubeHost, workload: Task, pod: Pod, signal: AbortSignal): Promise<void> {
  const { namespace = '', name } = pod.metadata
  const place = { namespace, pod: name, container: filesContainer }
  try {
    await fed(host, place, ['sh', '-c', unpack], inputOf(workload), signal)
  } catch (error) {
    if (!(error instanceof EngineError) || error.reason !== 'disk-full') throw error
    throw new EngineError('disk-full', 'The node has no space for the files of the run.', { cause: error })
  }
}

function inputOf(workload: Task): AsyncIterable<Uint8Array> {
  const archive = pack()
  for (const { path, content } of workload.inputFiles ?? []) {
    archive.entry({ name: keptFile(workload, path).slice(1), mode: 0o444 }, Buffer.from(content))
  }
  archive.entry({ name: marks.open.slice(1), mode: 0o444 }, '')
  archive.finalize()
  // A stream of a readable without an encoding has buffers.
  return archive as AsyncIterable<Buffer>
}
