import type { IncomingMessage } from 'node:http'
import type { Attempt } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { messageOf } from '../../lib/error.ts'
import { EngineError, type RegistryLogin } from '../engine.ts'
import { DaemonRefusal, type DockerDaemon, isRefusal } from './daemon.ts'
import type { ImageReference } from './image-reference.ts'
import { followPull } from './pull-progress.ts'
import type { Host } from './start.ts'

/** A registry that is silent for so long counts as away. */
const silenceMs = 90_000

/** What is needed to have a registry asked. */
export type Asking = Pick<Host, 'daemon' | 'clock'>

/** A no, in the words of the registry or of the daemon. */
export type Said = { readonly said: string }

/** Parts of what the daemon knows of an image. */
export interface InspectedImage {
  readonly Id: string
  readonly Size?: number
  readonly RepoDigests?: readonly string[] | null
  readonly Config?: { readonly Labels?: Readonly<Record<string, string>> | null } | null
}

/** Undefined where the daemon has none of that reference. */
export async function inspectImage(
  daemon: DockerDaemon,
  reference: string,
  signal: AbortSignal,
): Promise<InspectedImage | undefined> {
  try {
    // The shape is that of Docker's published API.
    return (await daemon.json({ method: 'GET', path: `/images/${reference}/json`, signal })) as InspectedImage
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}

const authentication = (login: RegistryLogin | undefined) =>
  login && { login: { username: login.username, password: login.password.reveal() } }

/** What a tag stands for in its registry. */
export async function askDigest(
  { daemon, clock }: Asking,
  { name, tag, digest }: ImageReference,
  login: RegistryLogin | undefined,
  signal: AbortSignal,
): Promise<{ readonly digest: string } | Said> {
  if (digest) return { digest }
  return listen(clock, signal, async (limited) => {
    const path = `/distribution/${name}:${tag ?? 'latest'}/json`
    const answer = await daemon.json({
      method: 'GET',
      path,
      signal: limited.signal,
      timeoutMs: 2 * silenceMs,
      ...authentication(login),
    })
    const named: unknown = Object(Object(answer).Descriptor).digest
    if (typeof named !== 'string' || !/^sha256:[0-9a-f]{64}$/.test(named)) {
      return { said: 'it named no valid digest (unexpected digest)' }
    }
    return { digest: named }
  })
}

/** Has the daemon pull what a reference names. */
export async function pull(
  { daemon, clock }: Asking,
  { name, tag, digest }: ImageReference,
  login: RegistryLogin | undefined,
  { signal, output }: Attempt,
): Promise<{ readonly isPulled: true } | Said> {
  const progress = followPull(output, clock)
  return listen(clock, signal, async (limited) => {
    const answer = await daemon.stream({
      method: 'POST',
      path: '/images/create',
      query: { fromImage: name, tag: digest ?? tag ?? 'latest' },
      signal: limited.signal,
      timeoutMs: 2 * silenceMs,
      ...authentication(login),
    })
    for await (const line of linesOf(answer)) {
      limited.hear()
      const error = line.trim() === '' ? undefined : progress.report(Object(JSON.parse(line)))
      if (error !== undefined) return { said: error }
    }
    // A registry may have sent something else under the tag: only what has the digest counts.
    const wanted = digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`
    if ((await inspectImage(daemon, wanted, signal)) === undefined) return { said: 'unexpected digest' }
    progress.end()
    return { isPulled: true }
  })
}

async function* linesOf(stream: IncomingMessage): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const text of stream.setEncoding('utf8')) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (error) {
    throw new EngineError('unreachable', `Docker broke off while it fetched an image: ${messageOf(error)}`, {
      cause: error,
    })
  }
  yield rest
}

/** Turns the daemon's no, and its silence, into what it said; anything else that goes wrong is thrown. */
async function listen<T>(
  clock: Clock,
  signal: AbortSignal,
  work: (limited: { readonly signal: AbortSignal; hear(): void }) => Promise<T | Said>,
): Promise<T | Said> {
  const silence = new AbortController()
  const done = new AbortController()
  let heardAt = clock.monotonic()
  const watch = async (): Promise<void> => {
    for (let left = silenceMs; left > 0; left = heardAt + silenceMs - clock.monotonic()) {
      await clock.sleep(left, done.signal)
    }
    silence.abort()
  }
  watch().catch(() => {})
  try {
    return await work({
      signal: AbortSignal.any([signal, silence.signal]),
      hear: () => {
        heardAt = clock.monotonic()
      },
    })
  } catch (error) {
    signal.throwIfAborted()
    if (silence.signal.aborted) return { said: `i/o timeout: it sent nothing for ${silenceMs / 1000} s` }
    if (error instanceof DaemonRefusal) return { said: error.message }
    throw error
  } finally {
    done.abort()
  }
}
