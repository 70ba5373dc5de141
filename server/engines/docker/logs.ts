import type { Clock } from '../../lib/clock.ts'
import type { LogLine, LogQuery } from '../engine.ts'
import { Channel } from './channel.ts'
import { containerOutput, type OutputQuery } from './container-output.ts'
import { listContainers } from './containers.ts'
import type { DockerDaemon } from './daemon.ts'
import type { Events } from './events.ts'
import { type Cursor, cursorAt } from './frames.ts'
import { label } from './labels.ts'

interface Source {
  readonly daemon: DockerDaemon
  readonly clock: Clock
  readonly instance: string
  readonly events: Events
}

interface Printed {
  readonly id: string
  readonly replica: string
  readonly release: string
  readonly isUp: boolean
}

/** Lines of all containers of the service. Those that are there already come in order of time, later ones as they come. */
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
  try {
    const containers = await containersOf(source, service, signal)
    const outputs = containers.map((container) =>
      output(source, container, { follow: false, cursor: cursorOf(container.id) }, signal),
    )
    yield* merged(outputs)
    if (query.follow) yield* followed(source, service, cursorOf, signal)
  } catch (error) {
    if (!outer.aborted) throw error
  } finally {
    end.abort()
  }
}

async function* output(
  { daemon }: Source,
  { id, replica, release }: Printed,
  query: OutputQuery,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  for await (const line of containerOutput(daemon, id, query, signal)) yield { ...line, replica, release }
}

/** Several sequences that are each in order become one that is. */
export async function* merged(sources: readonly AsyncGenerator<LogLine>[]): AsyncGenerator<LogLine> {
  try {
    const heads = await Promise.all(sources.map(async (source) => ({ source, next: await source.next() })))
    for (;;) {
      let earliest: { source: AsyncGenerator<LogLine>; next: IteratorResult<LogLine> } | undefined
      for (const head of heads) {
        if (head.next.done) continue
        if (earliest === undefined || head.next.value.at < earliest.next.value.at) earliest = head
      }
      if (earliest === undefined) return
      yield earliest.next.value
      earliest.next = await earliest.source.next()
    }
  } finally {
    await Promise.allSettled(sources.map((source) => source.return(undefined)))
  }
}

/**
 * Keeps one reader for every container. A reader ends with its container, or when the line to the daemon breaks; what the daemon tells
 * of starts and ends brings readers back at the line after the last one given.
 */
async function* followed(
  source: Source,
  service: string,
  cursorOf: (container: string) => Cursor,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  const lines = new Channel<LogLine>(1_000, signal)
  const reading = new Set<string>()
  /** Read to their end: worth reading again only once they run again. */
  const finished = new Set<string>()
  const read = async (container: Printed): Promise<void> => {
    reading.add(container.id)
    try {
      const query = { follow: true, cursor: cursorOf(container.id) }
      for await (const line of output(source, container, query, signal)) await lines.push(line)
      finished.add(container.id)
    } catch {
      // Removed meanwhile, or the line broke: the next look tells.
    }
    reading.delete(container.id)
    // It may have started again before its old output came to an end, and that event is over.
    await source.clock.sleep(250, signal).then(attach, () => {})
  }
  const attach = async (): Promise<void> => {
    const containers = await containersOf(source, service, signal).catch(() => undefined)
    if (!containers) return source.clock.sleep(1_000, signal).then(attach, () => {})
    for (const container of containers) {
      if (reading.has(container.id) || (finished.has(container.id) && !container.isUp)) continue
      finished.delete(container.id)
      void read(container)
    }
  }
  const stop = source.events.listen(service, (event) => {
    if (!event || event.action === 'start' || event.action === 'die') void attach()
  })
  try {
    await attach()
    yield* lines
  } finally {
    stop()
  }
}

async function containersOf({ daemon, instance }: Source, service: string, signal: AbortSignal): Promise<Printed[]> {
  const found = await listContainers(daemon, { instance, labels: { [label.service]: service } }, signal)
  // What holds a network prints nothing.
  const printing = found.filter(({ Labels }) => Labels[label.holder] === undefined)
  return printing.map((container) => ({
    id: container.Id,
    replica: container.Names[0]?.replace(/^\//, '') ?? container.Id,
    release: container.Labels[label.release] ?? '',
    isUp: container.State === 'running' || container.State === 'restarting',
  }))
}
