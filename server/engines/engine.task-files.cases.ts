import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../../test/support/until.ts'
import { newId } from '../lib/id.ts'
import { attempt } from './engine.cases.ts'
import { newTask } from './engine.tasks.cases.ts'
import type { Engine, LogLine, Release, Task } from './engine.ts'

/**
 * The behaviour of a task: `copies` writes its input and " copied" into its output file; `fails`
 * does the same and exits with code 3; `floods` writes more than is allowed; `hoards` copies, and
 * writes many times the limit into another file of the same directory; `hangs` copies, prints "up"
 * and keeps running until it is asked to end.
 */
export type FileProgram = 'copies' | 'fails' | 'floods' | 'hoards' | 'hangs'

export const taskFiles = { input: '/quayside-run/in', output: '/quayside-run/out', mostBytes: 1024 * 1024 } as const

export interface TaskFilesBench {
  readonly engine: Engine
  task(program: FileProgram): Task
  close(): Promise<void>
}

/** One suite for every engine whose tasks have input and output files. */
export function taskFilesCases(name: string, open: () => Promise<TaskFilesBench>): void {
  describe(`files of tasks of engine ${name}`, () => {
    let bench: TaskFilesBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    endedCases(() => bench)
    stoppedCases(() => bench)
  })
}

const limit = (): AbortSignal => AbortSignal.timeout(120_000)
const releaseOf = ({ task }: TaskFilesBench, program: FileProgram): Release<Task> =>
  newTask({
    ...task(program),
    inputFiles: [{ path: taskFiles.input, content: Buffer.from('\u0000sent') }],
    outputFiles: [
      { path: taskFiles.output, mostBytes: taskFiles.mostBytes },
      { path: '/quayside-more/never', mostBytes: 1024 },
    ],
  })
const copied = Buffer.from('\u0000sent copied')
const erase = async ({ engine }: TaskFilesBench, { service, environment }: Release<Task>) => {
  await engine.erase(service, attempt())
  await engine.eraseEnvironment(environment, attempt())
}

function endedCases(get: () => TaskFilesBench): void {
  for (const [program, exitCode] of [
    ['copies', 0],
    ['fails', 3],
    ['hoards', 0],
  ] as const) {
    it(`a task that ${program} reads its input file, and its output file is returned`, async () => {
      const { engine } = get()
      const release = releaseOf(get(), program)
      const run = newId()
      await engine.prepareTask(release, run, attempt())
      const outcome = await engine.runTask(release, run, attempt())
      assert.equal(outcome.exitCode, exitCode)
      assert.deepEqual([...(outcome.files ?? [])], [[taskFiles.output, { content: copied }]])
      for (let times = 0; times < 2; times++) await engine.freeTask(run, attempt())
      assert.deepEqual(
        (await engine.listTasks(limit())).filter((one) => one.run === run),
        [{ run, service: release.service, running: false }],
      )
      await erase(get(), release)
    })
  }

  it('a task that ends with its fileless exit code returns no file', async () => {
    const { engine } = get()
    const { workload, ...release } = releaseOf(get(), 'fails')
    const fileless = { ...release, workload: { ...workload, filelessExitCode: 3 } }
    const run = newId()
    await engine.prepareTask(fileless, run, attempt())
    const { exitCode, files } = await engine.runTask(fileless, run, attempt())
    assert.deepEqual([exitCode, [...(files ?? [])]], [3, []])
    await erase(get(), fileless)
  })

  it('an output file that is too long is reported and not read', async () => {
    const { engine } = get()
    const release = releaseOf(get(), 'floods')
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    const { files } = await engine.runTask(release, run, attempt())
    assert.deepEqual(files?.get(taskFiles.output), { problem: 'it is longer than 1 MiB' })
    await erase(get(), release)
  })
}

function stoppedCases(get: () => TaskFilesBench): void {
  it('a task that exceeds its time limit returns the files that it wrote', async () => {
    const { engine } = get()
    const { workload, ...release } = releaseOf(get(), 'hangs')
    const short = { ...release, workload: { ...workload, timeoutSeconds: 2 } }
    const run = newId()
    await engine.prepareTask(short, run, attempt())
    const { timedOut, files } = await engine.runTask(short, run, attempt())
    assert.equal(timedOut, true)
    assert.deepEqual(files?.get(taskFiles.output), { content: copied })
    await engine.endTask(run, attempt())
    assert.ok(!(await engine.listTasks(limit())).some((one) => one.run === run))
    await erase(get(), short)
  })

  it('a running task shows its output file, and a stopped one returns it as often as it is stopped', async () => {
    const { engine } = get()
    const release = releaseOf(get(), 'hangs')
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    assert.equal(await engine.stopTask(release, run, attempt()), undefined)
    const running = engine.runTask(release, run, attempt())
    await until('it is up', async () => {
      const lines: LogLine[] = []
      for await (const line of engine.logs(release.service, { follow: false }, limit())) lines.push(line)
      return lines.some(({ text }) => text === 'up')
    })
    assert.deepEqual(await engine.readTaskFile(release, run, taskFiles.output, limit()), { content: copied })
    assert.equal(await engine.readTaskFile(release, run, '/quayside-more/never', limit()), undefined)
    await assert.rejects(engine.readTaskFile(release, run, taskFiles.input, limit()), { reason: 'refused' })
    for (let times = 0; times < 2; times++) {
      const outcome = await engine.stopTask(release, run, attempt())
      assert.notEqual(outcome?.exitCode, 0)
      assert.equal(outcome?.timedOut, false)
      assert.deepEqual(outcome?.files?.get(taskFiles.output), { content: copied })
    }
    await running
    await erase(get(), release)
  })
}
