import { everyOne } from '../../lib/every-one.ts'
import { EngineError } from '../engine.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import { labelFilter } from './labels.ts'

interface Owner {
  readonly daemon: DockerDaemon
  readonly instance: string
}

/**
 * The volumes whose users copies of this process have stand still: nobody else may let them go on.
 */
export class HeldVolumes {
  readonly #holders = new Set<readonly string[]>()

  /** Gives the end of it. */
  hold(volumes: readonly string[]): () => void {
    const holder = [...volumes]
    this.#holders.add(holder)
    return () => void this.#holders.delete(holder)
  }

  has(volume: string): boolean {
    return [...this.#holders].some((holder) => holder.includes(volume))
  }
}

/** A container that mounts one of the volumes and runs, or stands still. */
export interface VolumeUser {
  readonly id: string
  readonly state: 'running' | 'paused' | 'restarting'
  /** All that it mounts. */
  readonly volumes: readonly string[]
}

export async function usersOf(owner: Owner, volumes: readonly string[], signal: AbortSignal): Promise<VolumeUser[]> {
  const found = await everyOne(volumes.map((name) => list(owner, { volume: [name] }, signal)))
  return [...new Map(found.flat().map((user) => [user.id, user])).values()]
}

/**
 * Has everything stand still that uses the volumes, at once; gives the containers. Programs of a
 * container that is paused hold their connections and answer later; what they wrote is seen by
 * whoever reads the volume, as after a cut of power.
 */
export async function pauseUsers(owner: Owner, volumes: readonly string[], signal: AbortSignal): Promise<string[]> {
  for (let tries = 0; tries < 50; tries++) {
    const users = await usersOf(owner, volumes, signal)
    const moving = users.filter(({ state }) => state !== 'paused')
    if (moving.length === 0) return users.map(({ id }) => id)
    await everyOne(moving.map(({ id }) => switchTo(owner, id, 'pause')))
    signal.throwIfAborted()
  }
  throw new EngineError('unreachable', 'something that uses the volumes starts again and again')
}

/**
 * Lets everything go on that uses the volumes and stands still, unless a copy needs it; without
 * volumes, everything of this installation. Gives the names.
 */
export async function resumeAll(
  owner: Owner & { readonly held: HeldVolumes },
  volumes: readonly string[] | undefined,
  signal: AbortSignal,
): Promise<string[]> {
  const paused = await owner.daemon.patiently(signal, async () =>
    volumes ? await usersOf(owner, volumes, signal) : await list(owner, { status: ['paused'] }, signal),
  )
  // Who was listed as standing before a copy began is held by it now.
  const standing = paused.filter(
    (user) => user.state === 'paused' && !user.volumes.some((name) => owner.held.has(name)),
  )
  await owner.daemon.patiently(signal, () => everyOne(standing.map(({ id }) => switchTo(owner, id, 'unpause'))))
  return standing.map(({ id }) => id)
}

const switchMs = 30_000

/**
 * 404 and 409: it is gone, ended, or in that state already. What the daemon then shows decides.
 * Waited for to its end: what is given up in the middle may stand still after everything was let go
 * on.
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
    throw new EngineError('unreachable', 'Docker answered a list of containers with something else')
  }
  return answer.map(({ Id, State, Mounts }) => ({
    id: String(Id),
    state: State,
    volumes: Array.isArray(Mounts) ? Mounts.flatMap(({ Name }) => (Name === undefined ? [] : [String(Name)])) : [],
  }))
}
