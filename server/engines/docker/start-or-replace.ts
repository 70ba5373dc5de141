import { EngineError } from '../engine.ts'
import { removeContainer, startContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'

/**
 * Starts a container and gives its id. Where Docker was killed while it started this one, it may
 * find a task of that id below it which it does not know of, and would refuse for ever: then the
 * container is removed, and the one that `makeAgain` makes is started in its place. Throws as
 * startContainer does.
 */
export async function startOrReplace(
  daemon: DockerDaemon,
  container: string,
  { makeAgain, signal }: { readonly makeAgain: () => Promise<string>; readonly signal: AbortSignal },
): Promise<string> {
  try {
    await startContainer(daemon, container, signal)
    return container
  } catch (error) {
    if (!isLeftTask(error)) throw error
    await removeContainer(daemon, container, signal)
    const made = await makeAgain()
    await startContainer(daemon, made, signal)
    return made
  }
}

/** In the words of containerd, which Docker passes on. */
const isLeftTask = (error: unknown): boolean =>
  error instanceof EngineError && /\btask [0-9a-f]{64}: already exists/.test(error.message)
