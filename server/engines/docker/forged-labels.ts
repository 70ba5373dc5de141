import { EngineError } from '../engine.ts'
import { inspectContainer, removeContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import { label } from './labels.ts'

type LabelValues = Readonly<Record<string, string>>

/** Lists labels of ours on a container that we did not set: they come from its image. */
export const forgedLabels = (found: LabelValues, set: LabelValues): string[] =>
  Object.values(label).filter((name) => Object.hasOwn(found, name) && !Object.hasOwn(set, name))

/**
 * Removes a container that has not started if its image sets labels that the engine acts on, and
 * throws EngineError('refused'). Such a label could hide the container, pass it off as another run,
 * or add a command or a probe that nobody checked.
 */
export async function refuseForgedLabels(
  daemon: DockerDaemon,
  { container, set = {} }: { readonly container: string; readonly set: LabelValues | undefined },
  signal: AbortSignal,
): Promise<void> {
  const state = await inspectContainer(daemon, container, signal)
  const [name] = state?.status === 'created' ? forgedLabels(state.labels, set) : []
  if (name === undefined) return
  await removeContainer(daemon, container, signal)
  throw new EngineError(
    'refused',
    `the image sets the label ${name}, which only Quayside may set; remove it from the image, or from LABEL ` +
      'in its Dockerfile',
  )
}
