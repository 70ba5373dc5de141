import { EngineError } from '../engine.ts'
import { removeContainer, startContainer } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'

/**
 * Starts a container and returns its id. If Docker is killed while starting a container, containerd
 * may keep a stale task and every later start fails. The container is then removed, and the one
 * from `makeAgain` is started instead. Throws as startContainer does.
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

/** Matches containerd's message, which Docker passes on. */
const isLeftTask = (error: unknown): boolean =>
  error instanceof EngineError && /\btask [0-9a-f]{64}: already exists/.test(error.message)
