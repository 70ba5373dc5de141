import assert from 'node:assert/strict'
import { after, afterEach, before, describe, it } from 'node:test'
import { until } from '../../test/support/until.ts'
import { armFailpoints, type Failpoint } from '../lib/failpoint.ts'
import { newId } from '../lib/id.ts'
import { Secret } from '../lib/secret.ts'
import { attempt } from './engine.cases.ts'
import type { Engine, LogLine, Release, Task } from './engine.ts'

/**
 * What a task in the suite does: `works` prints "done"; `writes` also writes
 * {"KEY":{"value":"one"}} into its output file; `fails` prints its variable HIDDEN and exits with
 * code 3; `endless` prints "up" and keeps running.
 */
export type TaskProgram = 'works' | 'writes' | 'fails' | 'endless' | 'out-of-memory' | 'image-missing'

export interface TaskBench {
  readonly engine: Engine
  /** The same engine as another process of this installation sees it. */
  readonly another: Engine
  task(program: TaskProgram): Task
  /** Removes what is left of a run behind the engine's back. */
  remove(run: string): Promise<void>
  /** Removes the holder of a run's network behind the engine's back, if the engine has one. */
  removeNetwork(run: string): Promise<void>
  close(): Promise<void>
}

export const outputFile = '/qovery-output/qovery-output.json'

export const newTask = (workload: Task, of: Partial<Release<Task>> = {}): Release<Task> => ({
  id: newId(),
  service: newId(),
  environment: newId(),
  displayName: 'a job; $(touch x)',
  workload,
  ...of,
})

const limit = (): AbortSignal => AbortSignal.timeout(120_000)

/** One suite for every engine that runs tasks. */
export function taskCases(name: string, open: () => Promise<TaskBench>): void {
  describe(`tasks of engine ${name}`, () => {
    let bench: TaskBench
    before(async () => {
      bench = await open()
    })
    afterEach(() => armFailpoints(undefined))
    after(() => bench?.close())
    outcomeCases(() => bench)
    onceCases(() => bench)
    besideCases(() => bench)
  })
}

const runOf = async ({ engine }: TaskBench, release: Release<Task>, run: string) => {
  await engine.prepareTask(release, run, attempt())
  return engine.runTask(release, run, attempt())
}
const erase = async ({ engine }: TaskBench, { service, environment }: Release<Task>) => {
  await engine.erase(service, attempt())
  await engine.eraseEnvironment(environment, attempt())
}
const linesOf = async (engine: Engine, service: string): Promise<string[]> => {
  const lines: LogLine[] = []
  for await (const line of engine.logs(service, { follow: false }, limit())) lines.push(line)
  return lines.map(({ text }) => text)
}

function outcomeCases(get: () => TaskBench): void {
  it('returns exit code, times, last lines and the content of the output file', async () => {
    const release = newTask({ ...get().task('writes'), outputFile })
    const outcome = await runOf(get(), release, newId())
    assert.deepEqual([outcome.exitCode, outcome.outOfMemory, outcome.timedOut], [0, false, false])
    assert.deepEqual(JSON.parse(outcome.output ?? ''), { KEY: { value: 'one' } })
    assert.deepEqual(outcome.lastLines, ['done'])
    assert.ok(outcome.startedAt <= outcome.finishedAt)
    assert.deepEqual(await linesOf(get().engine, release.service), ['done'])
    await erase(get(), release)
  })

  it('reports the exit code of a failed run, and masks secrets in the last lines', async () => {
    const release = newTask({
      ...get().task('fails'),
      outputFile,
      variables: { HIDDEN: new Secret('canary-1905') },
      files: [{ path: '/srv/hidden', content: new Secret('first line\ncanary-1906\n') }],
    })
    const outcome = await runOf(get(), release, newId())
    assert.equal(outcome.exitCode, 3)
    assert.equal(outcome.output, undefined)
    assert.deepEqual(outcome.lastLines, ['said ******', 'and ******'])
    await erase(get(), release)
  })

  it('ends a run that exceeds its time limit', async () => {
    const release = newTask({ ...get().task('endless'), timeoutSeconds: 1 })
    const outcome = await runOf(get(), release, newId())
    assert.equal(outcome.timedOut, true)
    assert.notEqual(outcome.exitCode, 0)
    await erase(get(), release)
  })

  it('reports that a run was out of memory', async () => {
    const release = newTask(get().task('out-of-memory'))
    assert.equal((await runOf(get(), release, newId())).outOfMemory, true)
    await erase(get(), release)
  })

  it('rejects a task whose image is missing', async () => {
    const release = newTask(get().task('image-missing'))
    await assert.rejects(runOf(get(), release, newId()), { reason: 'image-missing' })
    await erase(get(), release)
  })
}

function onceCases(get: () => TaskBench): void {
  for (const point of ['task.created', 'task.started', 'task.ended'] satisfies Failpoint[]) {
    it(`runs once and returns its outcome when the platform crashed at ${point}`, async () => {
      const release = newTask(get().task('works'))
      const run = newId()
      armFailpoints(`${point}:throw`)
      await assert.rejects(runOf(get(), release, run), /failpoint/)
      assert.equal((await runOf(get(), release, run)).exitCode, 0)
      assert.deepEqual(await linesOf(get().engine, release.service), ['done'])
      await erase(get(), release)
    })
  }

  it('prepares a punctual run completely before its start, and recreates its network holder if it is gone', async () => {
    const { engine, task } = get()
    const release = newTask({ ...task('works'), isPunctual: true })
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    const before: unknown[] = []
    const whenReady = async () => {
      before.push((await engine.listTasks(limit())).filter((one) => one.run === run))
      before.push(await linesOf(engine, release.service), await engine.observe(release.service, limit()))
      await get().removeNetwork(run)
    }
    assert.equal((await engine.runTask(release, run, { ...attempt(), whenReady })).exitCode, 0)
    assert.deepEqual(before, [[{ run, service: release.service, running: false }], [], { state: 'absent' }])
    const again = { ...attempt(), whenReady: () => assert.fail('it has begun before') }
    assert.equal((await engine.runTask(release, run, again)).exitCode, 0)
    assert.deepEqual(await linesOf(engine, release.service), ['done'])
    await engine.endTask(run, attempt())
    assert.equal(
      (await engine.listTasks(limit())).some((one) => one.run === run),
      false,
    )
    await erase(get(), release)
  })

  it('runs once when the process that is about to start it stalls and another one takes over', async () => {
    const { engine, another, task } = get()
    const release = newTask(task('works'))
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    const [ready, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const whenReady = () => {
      ready.resolve()
      return goesOn.promise
    }
    const standing = engine.runTask(release, run, { ...attempt(), whenReady }).catch(() => undefined)
    await ready.promise
    assert.equal((await another.runTask(release, run, attempt())).exitCode, 0)
    goesOn.resolve()
    await standing
    assert.equal((await another.runTask(release, run, attempt())).exitCode, 0)
    assert.deepEqual(await linesOf(another, release.service), ['done'])
    await erase(get(), release)
  })

  it('does not rerun a run that somebody removed', async () => {
    const release = newTask(get().task('works'))
    const run = newId()
    await get().engine.prepareTask(release, run, attempt())
    await get().remove(run)
    await assert.rejects(get().engine.runTask(release, run, attempt()), /Somebody removed the (?:container|job)/)
    await erase(get(), release)
  })

  it('keeps running when its caller stops waiting, can be joined, and ends on request', async () => {
    const { engine, task } = get()
    const release = newTask(task('endless'))
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    const leave = new AbortController()
    const waiting = assert.rejects(engine.runTask(release, run, attempt(leave.signal)), (error) => error === 'left')
    const isRunning = async () => (await engine.listTasks(limit())).some((one) => one.run === run && one.running)
    await until('it runs', isRunning)
    leave.abort('left')
    await waiting
    assert.equal(await isRunning(), true)
    for (let times = 0; times < 2; times++) await engine.endTask(run, attempt())
    assert.equal(
      (await engine.listTasks(limit())).some((one) => one.run === run),
      false,
    )
    await erase(get(), release)
  })
}

function besideCases(get: () => TaskBench): void {
  it('is not a replica of its service, and is removed with it', async () => {
    const { engine, task } = get()
    const release = newTask(task('endless'))
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    // It is either seen as ended or no longer listed.
    const ended = engine.runTask(release, run, attempt()).catch(() => undefined)
    await until('it runs', async () => (await engine.listTasks(limit())).some((one) => one.running))
    assert.deepEqual(await engine.observe(release.service, limit()), { state: 'absent' })
    assert.equal((await engine.observeAll(limit())).has(release.service), false)
    await engine.eraseEnvironment(release.environment, attempt())
    await engine.retire(release.service, release.id, attempt())
    const mine = async () => (await engine.listTasks(limit())).filter(({ service }) => service === release.service)
    assert.deepEqual(await mine(), [{ run, service: release.service, running: true }])
    await engine.erase(release.service, attempt())
    assert.notEqual((await ended)?.exitCode, 0)
    assert.deepEqual(await mine(), [])
    await engine.eraseEnvironment(release.environment, attempt())
  })
}
