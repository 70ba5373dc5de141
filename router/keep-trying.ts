import { after } from './clock.ts'
import { describe, type Log } from './log.ts'

export interface Trying {
  /** For the log. */
  readonly what: string
  /** Reads and applies what the cluster keeps. Throws an Error if that cannot be read now. */
  readonly attempt: () => Promise<void>
  /** Whether the control plane has answered, so that nothing kept is needed. */
  readonly isDone: () => boolean
  readonly pauseMs: number
  readonly log: Log
}

/**
 * Tries once, and again in the background if that fails: the cluster may bring the parts of a new
 * version one after the other. Returns what stops it.
 */
export async function keepTrying(trying: Trying): Promise<() => void> {
  const { what, attempt, isDone, pauseMs, log } = trying
  let cancel = (): void => {}
  let isStopped = false
  const run = async (): Promise<void> => {
    try {
      await attempt()
    } catch (error) {
      log.error(`${what} could not be read`, { error: describe(error) })
      if (!isStopped) cancel = after(pauseMs, () => void (isDone() || run()))
    }
  }
  await run()
  return () => {
    isStopped = true
    cancel()
  }
}
