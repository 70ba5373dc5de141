import type { Clock } from '../../lib/clock.ts'
import type { LogLine, LogQuery } from '../engine.ts'
import { mergeLines } from '../merge-lines.ts'
import { containerOutput, type OutputQuery } from './container-output.ts'
import { listContainers } from './containers.ts'
import { type DockerDaemon, isRefusal } from './daemon.ts'
import type { Events } from './events.ts'
import { type Cursor, cursorAt } from './frames.ts'
import { label } from './labels.ts'
import { LaterLines, type Printed } from './later-lines.ts'

interface Source {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
  readonly events: Events
}

/**
 * Returns the lines of all containers of the service. Existing lines are in order of time. Later
 * lines follow as they arrive.
 */
export async function* serviceLogs(
  source: Source,
  service: string,
  query: LogQuery,
  outer: AbortSignal,
): AsyncGenerator<LogLine> {
  const end = new AbortController()
  const signal = AbortSignal.any([outer, end.signal])
  const cursors = new Map<string, Cursor>()
  const cursorOf = (id: string): Cursor => {
    const cursor = cursors.get(id) ?? cursorAt(query.after)
    cursors.set(id, cursor)
    return cursor
  }
  const look = () => containersOf(source, service, signal)
  const read = (container: Printed, follow: boolean) =>
    output(source, container, { follow, cursor: cursorOf(container.id) }, signal)
  const later = query.follow ? new LaterLines({ ...source, look, read, service }, signal) : undefined
  try {
    const containers = await look()
    yield* mergeLines(containers.filter(({ hasBegun }) => hasBegun).map((container) => read(container, false)))
    if (later) yield* later.from(containers)
  } catch (error) {
    if (!outer.aborted) throw error
  } finally {
    later?.stop()
    end.abort()
  }
}

async function* output(
  { daemon }: Source,
  { id, replica, release }: Printed,
  query: OutputQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  try {
    for await (const line of containerOutput(daemon, id, query, signal)) yield { ...line, replica, release }
  } catch (error) {
    // A container that is being removed, or was removed since it was listed, prints no more.
    if (!isRefusal(error, 404, 409)) throw error
  }
}

async function containersOf({ daemon, instance }: Source, service: string, signal: AbortSignal): Promise<Printed[]> {
  const found = await listContainers(daemon, { instance, labels: { [label.service]: service } }, signal)
  // A container that only holds a network prints nothing.
  const printing = found.filter(({ Labels }) => Labels[label.holder] === undefined)
  return printing.map((container) => ({
    id: container.Id,
    replica: container.Names[0]?.replace(/^\//, '') ?? container.Id,
    release: container.Labels[label.release] ?? '',
    isUp: container.State === 'running' || container.State === 'restarting',
    hasBegun: container.State !== 'created',
  }))
}
