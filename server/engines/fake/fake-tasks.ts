import type { Clock } from '../../lib/clock.ts'
import { failpoint } from '../../lib/failpoint.ts'
import { masker } from '../../lib/masker.ts'
import {
  EngineError,
  longestOutputBytes,
  type Release,
  type RunningTask,
  secretsIn,
  type Task,
  type TaskFile,
  type TaskOutcome,
} from '../engine.ts'
import { endedWith, outputFileAt } from '../program-rules.ts'

/** How every run of an image behaves. Absent: it ends immediately with code 0. */
export interface TaskBehaviour {
  readonly exitCode?: number
  /** How long it runs; `forever`: until it is ended or its time is over. */
  readonly runsMs?: number | 'forever'
  readonly outOfMemory?: boolean
  /** What it writes into its output file. */
  readonly output?: string
  /** What it writes into its output files, by their paths. */
  readonly files?: (release: Release<Task>) => Readonly<Record<string, string>>
  readonly lines?: readonly string[]
}

interface FakeRun {
  readonly release: Release<Task>
  readonly behaviour: TaskBehaviour
  startedAt: Date | undefined
  /** Ended by somebody. */
  ended: { readonly at: Date; readonly exitCode: number } | undefined
  readonly printed: string[]
}

/**
 * The tasks of the engine in memory. They continue while nobody waits; the clock alone decides when
 * they end.
 */
export class FakeTasks {
  readonly #clock: Clock
  readonly #print: (release: Release<Task>, run: string, text: string) => void
  readonly #runs = new Map<string, FakeRun>()
  #changed = Promise.withResolvers<void>()
  /** How often a program really began, rather than being found. */
  begun = 0

  constructor(clock: Clock, print: (release: Release<Task>, run: string, text: string) => void) {
    this.#clock = clock
    this.#print = print
  }

  prepare(release: Release<Task>, run: string, behaviour: TaskBehaviour): void {
    if (!this.#runs.has(run))
      this.#runs.set(run, { release, behaviour, startedAt: undefined, ended: undefined, printed: [] })
    failpoint('task.created')
  }

  async run(
    run: string,
    { signal, whenReady }: { readonly signal: AbortSignal; readonly whenReady?: () => Promise<void> },
  ): Promise<TaskOutcome> {
    if (!this.#find(run).startedAt) await whenReady?.()
    const task = this.#find(run)
    if (!task.startedAt) {
      this.begun++
      task.startedAt = this.#clock.now()
      for (const text of task.behaviour.lines ?? []) this.#say(task, run, text)
      failpoint('task.started')
    }
    await this.#untilEnded(run, task.startedAt, signal)
    failpoint('task.ended')
    return outcomeOf(this.#find(run), this.#clock.now())
  }

  /** Ends the program of a run if it has begun, and returns its outcome. */
  async stop(run: string, signal: AbortSignal): Promise<TaskOutcome | undefined> {
    const { startedAt } = this.#find(run)
    if (!startedAt) return undefined
    if (endOf(this.#find(run), startedAt).getTime() > this.#clock.now().getTime()) this.finish(run, 143)
    return this.run(run, { signal })
  }

  /** Returns a file that a run wrote. It writes all of them when it begins. */
  read(release: Release<Task>, run: string, path: string): TaskFile | undefined {
    outputFileAt(release.workload, path)
    const { startedAt, behaviour } = this.#find(run)
    return startedAt && filesOf(release.workload, release, behaviour)?.get(path)
  }

  /** Ends the program of a run now. */
  finish(run: string, exitCode: number): void {
    this.#find(run).ended = { at: this.#clock.now(), exitCode }
    this.#wake()
  }

  remove(isLeaving: (task: RunningTask & { readonly release: string }) => boolean): void {
    for (const [run, task] of this.#runs) {
      if (isLeaving({ ...this.#tell(run, task), release: task.release.id })) this.#runs.delete(run)
    }
    this.#wake()
  }

  list = (): RunningTask[] => [...this.#runs].map(([run, task]) => this.#tell(run, task))

  isIn = (environment: string): boolean =>
    [...this.#runs.values()].some(({ release }) => release.environment === environment)

  #tell = (run: string, task: FakeRun): RunningTask => ({
    run,
    service: task.release.service,
    running: task.startedAt !== undefined && endOf(task, task.startedAt).getTime() > this.#clock.now().getTime(),
  })

  async #untilEnded(run: string, startedAt: Date, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      const changed = this.#changed.promise
      const leftMs = endOf(this.#find(run), startedAt).getTime() - this.#clock.now().getTime()
      if (leftMs <= 0) return
      const over = new AbortController()
      const slept = this.#clock.sleep(leftMs, AbortSignal.any([signal, over.signal]))
      await Promise.race([changed, slept]).catch((error) => {
        signal.throwIfAborted()
        throw error
      })
      over.abort()
      slept.catch(() => {})
    }
  }

  #find(run: string): FakeRun {
    const task = this.#runs.get(run)
    if (task) return task
    throw new EngineError('crashed', 'Somebody removed the container of this run. It does not run again.')
  }

  #say(task: FakeRun, run: string, text: string): void {
    task.printed.push(text)
    this.#print(task.release, run, text)
  }

  #wake(): void {
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }
}

const forever = new Date(8_640_000_000_000_000)

function endOf({ behaviour, ended, release }: FakeRun, startedAt: Date): Date {
  if (ended) return ended.at
  const { runsMs = 0 } = behaviour
  const own = runsMs === 'forever' ? forever.getTime() : startedAt.getTime() + runsMs
  return new Date(Math.min(own, startedAt.getTime() + release.workload.timeoutSeconds * 1000))
}

function outcomeOf(task: FakeRun, now: Date): TaskOutcome {
  const { behaviour, ended, release } = task
  const { timeoutSeconds, outputFile } = release.workload
  const startedAt = task.startedAt ?? now
  const finishedAt = endOf(task, startedAt)
  const timedOut = !ended && finishedAt.getTime() - startedAt.getTime() >= timeoutSeconds * 1000
  const { output, outOfMemory = false } = behaviour
  const isLong = output !== undefined && Buffer.byteLength(output) > longestOutputBytes
  const written = isLong ? { outputProblem: 'it is longer than 1 MiB' } : output === undefined ? {} : { output }
  const files = filesOf(endedWith(release.workload, behaviour.exitCode), release, behaviour)
  const mask = masker(secretsIn(release.workload))
  return {
    exitCode: ended?.exitCode ?? (timedOut || outOfMemory ? 137 : (behaviour.exitCode ?? 0)),
    outOfMemory,
    timedOut,
    startedAt,
    finishedAt,
    ...(outputFile === undefined ? {} : written),
    ...(files && { files }),
    lastLines: task.printed.slice(-20).map(mask),
  }
}

function filesOf(
  { outputFiles = [] }: Task,
  release: Release<Task>,
  { files = () => ({}) }: TaskBehaviour,
): TaskOutcome['files'] {
  if (outputFiles.length === 0) return undefined
  const texts = files(release)
  return new Map(
    outputFiles.flatMap(({ path, mostBytes }): [string, TaskFile][] => {
      const content = texts[path] === undefined ? undefined : Buffer.from(texts[path])
      if (!content) return []
      const isLong = content.length > mostBytes
      return [[path, isLong ? { problem: `it is longer than ${mostBytes / 2 ** 20} MiB` } : { content }]]
    }),
  )
}
