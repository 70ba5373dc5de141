import type { Duplex } from 'node:stream'
import type { Attempt } from '../../../lib/attempt.ts'
import type { Clock } from '../../../lib/clock.ts'
import { messageOf } from '../../../lib/error.ts'
import { createKeyedSlots } from '../../../lib/keyed-slots.ts'
import { execIn } from '../container-output.ts'
import { DockerDaemon } from '../daemon.ts'
import { type BuilderLimits, builderName, limitsUpdate } from './builder-spec.ts'
import { dial } from './dial.ts'
import { ensureRunning, type Running } from './start-builder.ts'
import { endUnused, removeBuilder } from './unused-builders.ts'

export interface BuilderDaemonsOptions {
  /** Unix socket of the Docker Engine. */
  readonly socketPath: string
  readonly instance: string
  readonly clock: Clock
  readonly network: 'default' | 'none'
  /** Returns the name of an image with BuildKit on the engine, and fetches it if needed. */
  readonly findImage: (attempt: Attempt) => Promise<string>
  /** Isolates the network of a daemon, by its process, before its first build. */
  readonly isolate: (pid: number) => Promise<void>
}

/**
 * BuildKit daemons of the platform's own on a Docker Engine: one for each organization, in a
 * container without rights on the machine. Organizations share neither processes, nor files, nor a
 * network. A daemon that has nothing to build for some minutes is stopped, and keeps its cache.
 */
export interface BuilderDaemons {
  /**
   * Starts the daemon of an owner unless it runs, and raises its limits by these until disposed.
   * Throws EngineError.
   */
  hold(owner: string, limits: BuilderLimits, attempt: Attempt): Promise<HeldBuilder>
}

export interface HeldBuilder extends Disposable {
  /** Connects to the daemon. Throws EngineError. */
  open(attempt: Attempt): Promise<Duplex>
  /**
   * Removes the cache of the owner, as far as no other build uses it. This build has ended. Throws
   * EngineError.
   */
  clearCache(signal: AbortSignal): Promise<void>
  /** Why the daemon's network is not isolated from other daemons. Undefined if it is. */
  readonly isolationProblem: string | undefined
}

/** Starting takes half a second, so a daemon waits for the next build for a while. */
const idleMs = 300_000
const dialCommand = ['buildctl', 'dial-stdio']
const clearCommand = ['buildctl', 'prune', '--all']

/** Creates the daemons of one installation. Asks nobody before the first build, or some minutes. */
export function createBuilderDaemons(options: BuilderDaemonsOptions): BuilderDaemons {
  const { clock, instance } = options
  const daemon = new DockerDaemon(options)
  const alone = createKeyedSlots()
  const held = new Map<string, Set<BuilderLimits>>()
  const releasedAt = new Map<string, number>()
  /** By owner: the process that was isolated last, and why that failed. */
  const isolated = new Map<string, { readonly process: string; readonly problem: string | undefined }>()
  let cores: Promise<number> | undefined
  const host = { ...options, daemon }

  const isUsed = (owner: string): boolean =>
    held.has(owner) || clock.monotonic() - (releasedAt.get(owner) ?? Number.NEGATIVE_INFINITY) < idleMs
  /** Does not keep this process running. The next process ends what this one leaves. */
  const endUnusedLater = (): void => {
    const end = (): void => void endUnused({ ...host, alone, isUsed }, AbortSignal.timeout(60_000)).catch(() => {})
    AbortSignal.timeout(idleMs + 1000).addEventListener('abort', end)
  }
  // An earlier process may have been killed during a build.
  endUnusedLater()
  const updateLimits = async (owner: string, container: string, signal: AbortSignal): Promise<void> => {
    cores ??= coresOf(daemon, signal)
    cores.catch(() => {
      cores = undefined
    })
    const body = limitsUpdate(held.get(owner) ?? [], await cores)
    await daemon.json({ method: 'POST', path: `/containers/${container}/update`, body, signal })
  }
  const isolate = async (owner: string, { id, pid }: Running): Promise<string | undefined> => {
    const process = `${id} ${pid}`
    const known = isolated.get(owner)
    if (known?.process === process) return known.problem
    const problem = await options.isolate(pid).then(() => undefined, messageOf)
    isolated.set(owner, { process, problem })
    return problem
  }
  /** A daemon that a step has taken over would keep its files. It is asked only if others build. */
  const clearCache = async (owner: string, id: string, signal: AbortSignal): Promise<void> => {
    using _ = await alone.take(owner, signal)
    if (held.get(owner)?.size === 1) await removeBuilder(daemon, { instance, owner, id }, signal)
    else await execIn(daemon, id, clearCommand, signal)
  }
  const release = (owner: string, limits: BuilderLimits): void => {
    const own = held.get(owner)
    own?.delete(limits)
    if (own?.size === 0) held.delete(owner)
    // The memory of the ended build is not given to the others. A busy daemon may refuse.
    const name = builderName({ instance, owner })
    if (held.has(owner)) updateLimits(owner, name, AbortSignal.timeout(20_000)).catch(() => {})
    else {
      releasedAt.set(owner, clock.monotonic())
      endUnusedLater()
    }
  }
  return {
    async hold(owner, given, attempt) {
      const limits = { ...given }
      const own = held.get(owner) ?? new Set()
      held.set(owner, own.add(limits))
      try {
        using _ = await alone.take(owner, attempt.signal)
        const running = await ensureRunning(host, owner, own.size === 1, attempt)
        const isolationProblem = await isolate(owner, running)
        await updateLimits(owner, running.id, attempt.signal)
        return {
          isolationProblem,
          open: ({ signal }) => dial(daemon, running.id, dialCommand, signal),
          clearCache: (signal) => clearCache(owner, running.id, signal),
          [Symbol.dispose]: () => release(owner, limits),
        }
      } catch (error) {
        release(owner, limits)
        attempt.signal.throwIfAborted()
        throw error
      }
    },
  }
}

async function coresOf(daemon: DockerDaemon, signal: AbortSignal): Promise<number> {
  const info: { readonly NCPU?: unknown } = await daemon.json({ method: 'GET', path: '/info', signal })
  return Number(info.NCPU) || 1
}
