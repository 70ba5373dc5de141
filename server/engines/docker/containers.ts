import { buffer } from 'node:stream/consumers'
import type { LineSink } from '../../lib/attempt.ts'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { EngineError } from '../engine.ts'
import { type DaemonRefusal, type DockerDaemon, isRefusal } from './daemon.ts'
import type { ContainerCreateOptions, ContainerInfo, ContainerInspectInfo } from './docker-api.ts'
import { type Labels, label, labelFilter } from './labels.ts'
import { namesOf } from './local-images.ts'
import { type ReplicaState, replicaState } from './replica-state.ts'

/** Lists the containers of the installation that have the given further labels, in any state. */
export async function listContainers(
  daemon: DockerDaemon,
  filter: { readonly instance: string; readonly labels?: Labels },
  signal: AbortSignal,
): Promise<ContainerInfo[]> {
  const answer = await daemon.json({
    method: 'GET',
    path: '/containers/json',
    query: { all: true, filters: labelFilter(filter.instance, filter.labels) },
    signal,
  })
  if (!Array.isArray(answer)) throw new EngineError('unreachable', 'Docker returned an invalid list of containers')
  return answer
}

/** Returns one container, or undefined if there is none of that id or name. */
export async function inspectContainer(
  daemon: DockerDaemon,
  idOrName: string,
  signal: AbortSignal,
): Promise<ReplicaState | undefined> {
  try {
    const answer = await daemon.json({
      method: 'GET',
      path: `/containers/${encodeURIComponent(idOrName)}/json`,
      signal,
    })
    if (!('Id' in answer)) throw new EngineError('unreachable', 'Docker returned an invalid description of a container')
    // The shape is that of Docker's published API; `Id` tells that it is one.
    return replicaState(answer as ContainerInspectInfo)
  } catch (error) {
    if (isRefusal(error, 404)) return undefined
    throw error
  }
}

/**
 * Creates a container of that name, or finds the one that an earlier try created. Returns its id.
 * Throws EngineError('image-missing' | 'refused').
 */
export async function createContainer(
  daemon: DockerDaemon,
  create: {
    readonly name: string
    readonly spec: ContainerCreateOptions
    readonly output: LineSink
    /** Receives the id unless the container already existed. */
    readonly made?: Set<string>
  },
  signal: AbortSignal,
): Promise<string> {
  try {
    const answer = await askForContainer(daemon, create, signal)
    if ('Warnings' in answer && Array.isArray(answer.Warnings)) {
      for (const warning of answer.Warnings) create.output.line(`Docker: ${warning}`, 'warning')
    }
    if ('Id' in answer && typeof answer.Id === 'string') {
      create.made?.add(answer.Id)
      return answer.Id
    }
    throw new EngineError('unreachable', 'Docker returned an invalid response to the creation of a container')
  } catch (error) {
    if (isRefusal(error, 409)) return adopt(daemon, create, signal)
    if (lacksImage(error)) {
      throw new EngineError(
        'image-missing',
        `the engine has no image ${create.spec.Image}; build it again or check its name`,
      )
    }
    if (isRefusal(error, 400, 404))
      throw new EngineError('refused', `Docker rejected the container: ${error.message}`, { cause: error })
    if (isRefusal(error, 500)) refuseFull(error)
    // A fault of the daemon, not of the workload: worth a retry.
    if (isRefusal(error, 500, 502, 503))
      throw new EngineError('unreachable', `Docker failed: ${error.message}`, { cause: error })
    throw error
  }
}

const lacksImage = (error: unknown): boolean => isRefusal(error, 404) && /no such image/i.test(error.message)

/**
 * Finds a pinned image by its own tag. An image that Docker pulled under an earlier version has
 * only its digest.
 */
async function askForContainer(
  daemon: DockerDaemon,
  { name, spec }: { readonly name: string; readonly spec: ContainerCreateOptions },
  signal: AbortSignal,
): Promise<object> {
  const query = { name }
  const ask = (Image: string | undefined) =>
    daemon.json({
      method: 'POST',
      path: '/containers/create',
      query,
      body: { ...spec, Image },
      signal,
      timeoutMs: 60_000,
    })
  if (!spec.Image?.includes('@sha256:')) return ask(spec.Image)
  const [own, pulled] = namesOf(spec.Image)
  try {
    return await ask(own)
  } catch (error) {
    if (lacksImage(error)) return await ask(pulled)
    throw error
  }
}

async function adopt(
  daemon: DockerDaemon,
  create: { readonly name: string; readonly spec: ContainerCreateOptions },
  signal: AbortSignal,
): Promise<string> {
  const found = await inspectContainer(daemon, create.name, signal)
  if (!found || found.status === 'removing' || found.status === 'dead') {
    if (found) await removeContainer(daemon, found.id, signal)
    throw new EngineError('unreachable', `container ${create.name} is still being removed`)
  }
  const wanted = create.spec.Labels ?? {}
  if (![label.instance, label.release, label.replica, label.run].every((name) => found.labels[name] === wanted[name])) {
    throw new EngineError(
      'refused',
      `a container named ${create.name} already exists and is not ours; remove or rename it`,
    )
  }
  return found.id
}

/** Starts the container. Throws EngineError('refused') if its program cannot be started at all. */
export async function startContainer(daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<void> {
  try {
    await daemon.send({ method: 'POST', path: `/containers/${id}/start`, signal, timeoutMs: 60_000 })
  } catch (error) {
    const taken = takenPort(error)
    if (taken) {
      throw new EngineError(
        'refused',
        `port ${taken} of the machine is in use by another program; stop that program or publish another port`,
      )
    }
    if (isRefusal(error, 500)) refuseFull(error)
    const isFaultOfDaemon = isRefusal(error, 500, 503) && !/OCI runtime/.test(error.message)
    if (isFaultOfDaemon) throw new EngineError('unreachable', `Docker failed: ${error.message}`)
    if (isRefusal(error, 400, 404, 409, 500)) {
      throw new EngineError(
        'refused',
        `the program could not be started: ${error.message}; check entrypoint, arguments and the image's platform`,
      )
    }
    throw error
  }
}

/** A retry would not free any space. */
function refuseFull({ message }: DaemonRefusal): void {
  if (!/no space left on device/i.test(message)) return
  throw new EngineError(
    'disk-full',
    `The disk of the engine is full: the container cannot be created (${message}). Free space there, and deploy again.`,
  )
}

/**
 * Returns the port of the machine that could not be published, read from the message of the daemon
 * or its proxy.
 */
function takenPort(error: unknown): string | undefined {
  if (!isRefusal(error, 500)) return undefined
  const [, bound, proxied] =
    /Bind for \S+:(\d+) failed: port is already allocated|listen (?:tcp|udp)\d? \S+:(\d+): bind: address already in use/.exec(
      error.message,
    ) ?? []
  return bound ?? proxied
}

/**
 * Stops the container's program: its stop signal, then SIGKILL after the grace time. A missing
 * container counts as stopped.
 */
export async function stopContainer(
  daemon: DockerDaemon,
  container: { readonly id: string; readonly graceSeconds: number },
  signal: AbortSignal,
): Promise<void> {
  const { id, graceSeconds } = container
  const timeoutMs = (graceSeconds + 30) * 1000
  await absent(
    daemon.send({ method: 'POST', path: `/containers/${id}/stop`, query: { t: graceSeconds }, signal, timeoutMs }),
  )
}

/**
 * Waits until the container's program has ended, at most for the limit. Also returns early if
 * Docker cannot report that; the caller checks then.
 */
export async function untilStopped(
  { daemon, clock }: { readonly daemon: DockerDaemon; readonly clock: Clock },
  id: string,
  limitMs: number,
  outer: AbortSignal,
): Promise<void> {
  const { signal } = startDeadline(limitMs, outer)
  try {
    const query = { condition: 'not-running' }
    const answer = await daemon.stream({ method: 'POST', path: `/containers/${id}/wait`, query, signal })
    await buffer(answer)
  } catch {
    outer.throwIfAborted()
    if (!signal.aborted) await clock.sleep(250, outer)
  }
}

/** Removes the container with its anonymous volumes, and kills it if necessary. */
export const removeContainer = (daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<void> =>
  absent(
    daemon.send({
      method: 'DELETE',
      path: `/containers/${id}`,
      query: { force: true, v: true },
      signal,
      timeoutMs: 60_000,
    }),
  )

/**
 * Removes a container that was never started. Returns false and keeps it if somebody has started it
 * since.
 */
export async function removeUnstarted(daemon: DockerDaemon, id: string, signal: AbortSignal): Promise<boolean> {
  try {
    await absent(daemon.send({ method: 'DELETE', path: `/containers/${id}`, query: { v: true }, signal }))
    return true
  } catch (error) {
    if (isRefusal(error, 409)) return false
    throw error
  }
}

/** 404: it is already removed; 409: it is being removed. */
export async function absent(work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    if (isRefusal(error, 404) || (isRefusal(error, 409) && /already in progress/.test(error.message))) return
    throw error
  }
}
