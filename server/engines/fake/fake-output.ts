import type { Clock } from '../../lib/clock.ts'
import type { LogLine, LogQuery, Release, Task } from '../engine.ts'
import type { FakeReplica } from './fake-replica.ts'

/** The output of replicas and tasks of the engine in memory, and its followers. */
export class FakeOutput {
  readonly #clock: Clock
  /** Lines by service. They stay after a task is removed. */
  readonly #taskLines = new Map<string, LogLine[]>()
  #printed = Promise.withResolvers<void>()
  #lineNumber = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  print(replica: FakeReplica, text: string): void {
    replica.lines.push(this.#line(replica.name, replica.release, text))
    this.#tell()
  }

  printOf({ id, service }: Release<Task>, run: string, text: string): void {
    this.#taskLines.set(service, [...(this.#taskLines.get(service) ?? []), this.#line(run, id, text)])
    this.#tell()
  }

  /** Engine.logs; calls `replicas` again whenever something was printed. */
  async *logs(
    service: string,
    replicas: () => readonly FakeReplica[],
    query: LogQuery,
    signal: AbortSignal,
  ): AsyncGenerator<LogLine> {
    let after = query.after ?? ''
    const ended = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    while (!signal.aborted) {
      const more = this.#printed.promise
      const printed = [...replicas().flatMap((replica) => replica.lines), ...(this.#taskLines.get(service) ?? [])]
      const lines = printed.filter((line) => line.at > after)
      for (const line of lines.sort((a, b) => a.at.localeCompare(b.at))) {
        if (signal.aborted) return
        after = line.at
        yield line
      }
      if (!query.follow) return
      await Promise.race([more, ended])
    }
  }

  #line(replica: string, release: string, text: string): LogLine {
    // Nanoseconds that only grow, whatever the clock does: the line's number replaces the lower
    // digits.
    const at = this.#clock
      .now()
      .toISOString()
      .replace('Z', `${String(++this.#lineNumber % 1_000_000).padStart(6, '0')}Z`)
    return { at, replica, release, stream: 'stdout', text }
  }

  #tell(): void {
    const { resolve } = this.#printed
    this.#printed = Promise.withResolvers()
    resolve()
  }
}
