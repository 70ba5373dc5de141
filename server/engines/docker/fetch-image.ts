import { text } from 'node:stream/consumers'
import type { Attempt } from '../../lib/attempt.ts'
import { messageOf } from '../../lib/error.ts'
import { EngineError, type RegistryLogin } from '../engine.ts'
import { DaemonRefusal, type DockerDaemon, isRefusal } from './daemon.ts'

/** The registry has to begin to answer within this. */
const beginMs = 60_000

/**
 * Has the daemon pull the image. Where its registry does not give it, an image of that name that the daemon has already is used.
 * Throws EngineError('image-missing') with the registry's words.
 */
export async function fetchImage(
  daemon: DockerDaemon,
  image: string,
  login: RegistryLogin | undefined,
  { signal, output }: Attempt,
): Promise<void> {
  const problem = await pull(daemon, image, login, signal)
  if (problem === undefined) return
  const reason = `The image ${image} cannot be fetched: ${problem}`
  if (!(await isThere(daemon, image, signal))) {
    throw new EngineError(
      'image-missing',
      `${reason}. Check its name and tag, and whether its registry can be reached.`,
    )
  }
  output.line(`${reason}. The engine has one of that name, which is used.`, 'warning')
}

/** Undefined when all went well, else what went wrong. */
async function pull(
  daemon: DockerDaemon,
  image: string,
  login: RegistryLogin | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const colon = image.lastIndexOf(':')
  const query = { fromImage: image.slice(0, colon), tag: image.slice(colon + 1) }
  try {
    const progress = await daemon.stream({
      method: 'POST',
      path: '/images/create',
      query,
      signal,
      timeoutMs: beginMs,
      ...(login && { login: { username: login.username, password: login.password.reveal() } }),
    })
    return errorIn(await text(progress))
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof DaemonRefusal) return error.message
    if (error instanceof EngineError) throw error
    return messageOf(error)
  }
}

/** The daemon tells of its progress line by line, and of a failure in the same way. */
function errorIn(lines: string): string | undefined {
  for (const line of lines.split('\n')) {
    if (!line.includes('"error"')) continue
    const { error } = Object(JSON.parse(line))
    if (typeof error === 'string') return error
  }
  return undefined
}

async function isThere(daemon: DockerDaemon, image: string, signal: AbortSignal): Promise<boolean> {
  try {
    await daemon.json({ method: 'GET', path: `/images/${image}/json`, signal })
    return true
  } catch (error) {
    if (isRefusal(error, 404)) return false
    throw error
  }
}
