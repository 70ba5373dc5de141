import { everyOne } from '../../lib/every-one.ts'
import { EngineError } from '../engine.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { labelFilter } from './labels.ts'

interface Owner {
  readonly daemon: DockerDaemon
  readonly instance: string
}

/** The volumes that this process is copying. Their paused users must not be resumed. */
export class HeldVolumes {
  readonly #holders = new Set<readonly string[]>()

  /** Holds the volumes until the returned function is called. */
  hold(volumes: readonly string[]): () => void {
    const holder = [...volumes]
    this.#holders.add(holder)
    return () => void this.#holders.delete(holder)
  }

  has(volume: string): boolean {
    return [...this.#holders].some((holder) => holder.includes(volume))
  }
}

/** A running or paused container that mounts one of the volumes. */
export interface VolumeUser {
  readonly id: string
  readonly state: 'running' | 'paused' | 'restarting'
  /** All volumes that it mounts. */
  readonly volumes: readonly string[]
}

export async function usersOf(owner: Owner, volumes: readonly string[], signal: AbortSignal): Promise<VolumeUser[]> {
  const found = await everyOne(volumes.map((name) => list(owner, { volume: [name] }, signal)))
  return [...new Map(found.flat().map((user) => [user.id, user])).values()]
}

/**
 * Pauses all containers that use the volumes, and returns them. Paused programs keep their
 * connections and answer later. A reader sees the volume as after a power cut.
 */
export async function pauseUsers(owner: Owner, volumes: readonly string[], signal: AbortSignal): Promise<string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const users = await usersOf(owner, volumes, signal)
    const moving = users.filter(({ state }) => state !== 'paused')
    if (moving.length === 0) return users.map(({ id }) => id)
    await everyOne(moving.map(({ id }) => switchTo(owner, id, 'pause')))
    signal.throwIfAborted()
  }
  throw new EngineError('unreachable', 'a service that uses the volumes keeps restarting; stop it first')
}

/**
 * Resumes all paused containers that use the volumes, unless a copy still needs them. Without
 * volumes, resumes all paused containers of this installation. Returns their ids.
 */
export async function resumeAll(
  owner: Owner & { readonly held: HeldVolumes },
  volumes: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const paused = await owner.daemon.patiently(signal, async () =>
    volumes ? await usersOf(owner, volumes, signal) : await list(owner, { status: ['paused'] }, signal),
  )
  // A copy that began after the list was made holds its volumes by now.
  const standing = paused.filter(
    (user) => user.state === 'paused' && !user.volumes.some((name) => owner.held.has(name)),
  )
  await owner.daemon.patiently(signal, () => everyOne(standing.map(({ id }) => switchTo(owner, id, 'unpause'))))
  return standing.map(({ id }) => id)
}

const switchMs = 30_000

/**
 * Pauses or resumes a container. Statuses 404, 409 and 500 are ignored: it is gone, has ended, or
 * is already in that state, and the next list decides. The caller's signal does not cancel the
 * call: a cancelled pause could still take effect after everything was resumed.
 */
async function switchTo({ daemon }: Owner, id: string, to: 'pause' | 'unpause'): Promise<void> {
  try {
    await daemon.send({ method: 'POST', path: `/containers/${id}/${to}`, signal: AbortSignal.timeout(switchMs) })
  } catch (error) {
    if (!isRefusal(error, 404, 409, 500)) throw error
  }
}

async function list(
  { daemon, instance }: Owner,
  filter: Readonly<Record<string, string[]>>,
  signal: AbortSignal,
): Promise<VolumeUser[]> {
  const filters = { ...labelFilter(instance), status: ['running', 'paused', 'restarting'], ...filter }
  const answer = await daemon.json({ method: 'GET', path: '/containers/json', query: { all: true, filters }, signal })
  if (!Array.isArray(answer)) {
    throw new EngineError('unreachable', 'Docker returned an invalid list of containers')
  }
  return answer.map(({ Id, State, Mounts }) => ({
    id: String(Id),
    state: State,
    volumes: Array.isArray(Mounts) ? Mounts.flatMap(({ Name }) => (Name === undefined ? [] : [String(Name)])) : [],
  }))
}
