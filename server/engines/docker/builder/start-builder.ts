import { buffer } from 'node:stream/consumers'
import type { Attempt } from '../../../lib/attempt.ts'
import type { Clock } from '../../../lib/clock.ts'
import { EngineError } from '../../engine-error.ts'
import { execIn, lastLines } from '../container-output.ts'
import { createContainer, inspectContainer, removeContainer, startContainer } from '../containers.ts'
import type { DockerDaemon } from '../daemon.ts'
import { label } from '../labels.ts'
import type { ReplicaState } from '../replica-state.ts'
import { builderLabels, builderName, builderSpec } from './builder-spec.ts'
import { idMaps } from './id-maps.ts'

const readyMs = 30_000
const cacheBytes = 10e9
const readyCommand = ['buildctl', 'debug', 'workers']

/** The container of a daemon that runs. */
export type Running = Pick<ReplicaState, 'id' | 'pid'>

export interface BuilderHost {
  readonly daemon: DockerDaemon
  readonly instance: string
  readonly clock: Clock
  readonly network: 'default' | 'none'
  /** Returns the name of an image with BuildKit on the engine, and fetches it if needed. */
  readonly findImage: (attempt: Attempt) => Promise<string>
}

/**
 * Starts the container of an owner, unless it runs with these settings or others use it. Throws
 * EngineError.
 */
export async function ensureRunning(
  host: BuilderHost,
  owner: string,
  isFirst: boolean,
  attempt: Attempt,
): Promise<Running> {
  const { daemon, instance, network } = host
  const { signal } = attempt
  const image = await host.findImage(attempt)
  const name = builderName({ instance, owner })
  const spec = builderSpec({ instance, owner, image, network, cacheBytes })
  const found = await untilRemoved(host, name, signal)
  if (found && !isOurs(found, instance, owner)) {
    throw new EngineError('refused', `a container named ${name} already exists and is not ours; remove or rename it`)
  }
  const isCurrent = found?.labels[label.builderSpec] === spec.Labels?.[label.builderSpec]
  if (found && !isCurrent && isFirst) await removeContainer(daemon, found.id, signal)
  const kept = found && (isCurrent || !isFirst) ? found : undefined
  if (kept?.running) return kept
  const id = kept?.id ?? (await create(host, { name, owner, spec }, attempt))
  try {
    // At each start: a server may have ended right after it created the container.
    const file = await buffer(idMaps())
    await daemon.send({ method: 'PUT', path: `/containers/${id}/archive`, query: { path: '/etc' }, file, signal })
    await startContainer(daemon, id, signal)
  } catch (error) {
    // Somebody who trims caches may have removed the stopped container meanwhile.
    if (!kept || (await untilRemoved(host, id, signal))) throw error
    return await ensureRunning(host, owner, isFirst, attempt)
  }
  await untilReady(host, id, signal)
  const started = await inspectContainer(daemon, id, signal)
  if (!started?.running) throw new EngineError('unreachable', `the builder ${name} ended right after its start`)
  return started
}

/** Returns a container, but waits if it is being removed. */
async function untilRemoved({ daemon, clock }: BuilderHost, name: string, signal: AbortSignal) {
  for (;;) {
    const found = await inspectContainer(daemon, name, signal)
    if (found?.status === 'dead') await removeContainer(daemon, found.id, signal)
    else if (found?.status !== 'removing') return found
    await clock.sleep(50, signal)
  }
}

const isOurs = ({ labels }: ReplicaState, instance: string, owner: string): boolean =>
  Object.entries(builderLabels({ instance, owner })).every(([name, value]) => labels[name] === value)

async function create(
  { daemon, instance }: BuilderHost,
  {
    name,
    owner,
    spec,
  }: { readonly name: string; readonly owner: string; readonly spec: ReturnType<typeof builderSpec> },
  { signal, output }: Attempt,
): Promise<string> {
  const body = { Name: name, Driver: 'local', Labels: builderLabels({ instance, owner }) }
  await daemon.send({ method: 'POST', path: '/volumes/create', body, signal })
  return await createContainer(daemon, { name, spec, output }, signal)
}

async function untilReady({ daemon, clock }: BuilderHost, id: string, signal: AbortSignal): Promise<void> {
  const end = clock.monotonic() + readyMs
  for (;;) {
    const ready = await execIn(daemon, id, readyCommand, signal).catch(() => undefined)
    if (ready?.exitCode === 0) return
    const state = await inspectContainer(daemon, id, signal)
    if (state?.status === 'running' && clock.monotonic() < end) {
      await clock.sleep(100, signal)
      continue
    }
    const lines = await lastLines(daemon, id, 5, signal)
    throw new EngineError('refused', `the builder did not start: ${lines.join(' ').slice(0, 1000) || 'no output'}`)
  }
}
