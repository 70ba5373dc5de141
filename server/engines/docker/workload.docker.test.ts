import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { newTask, outputFile } from '../engine.tasks.cases.ts'
import { EngineError } from '../engine.ts'
import { type DockerBench, openDockerBench } from './test-bench.ts'
import { useTestImage } from './test-image.ts'
import { openTaskBench } from './test-task-bench.ts'

const { socketPath, image } = useTestImage()
/** The most that the API takes for a value. */
const maxValueBytes = 128_000
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

describe('variables', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())

  it('arrive unchanged at their maximum length', async () => {
    const value = `${'€'.repeat(maxValueBytes / 4)}\n${'x'.repeat(maxValueBytes / 4 - 1)}`
    assert.equal(Buffer.byteLength(value), maxValueBytes)
    const release = newRelease({ ...bench.workload('web'), variables: { LONG: value, HIDDEN: new Secret(value) } })
    await bench.engine.start(release, attempt())
    const own = `fs.readFileSync('/proc/1/environ', 'utf8').split('\\0').filter((line) => /^(LONG|HIDDEN)=/.test(line))`
    const program =
      `JSON.stringify(${own}.sort().map((line) => ` +
      `require('crypto').createHash('sha256').update(line).digest('hex')))`
    const { output } = await bench.engine.exec(release.service, ['node', '-p', program], limit())
    const hash = (text: string) => createHash('sha256').update(text).digest('hex')
    assert.deepEqual(JSON.parse(output), [hash(`HIDDEN=${value}`), hash(`LONG=${value}`)])
    await bench.engine.erase(release.service, attempt())
  })
})

describe('a read-only root filesystem', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  const writes = (path: string) => ['node', '-e', `fs.writeFileSync(${JSON.stringify(path)}, 'x')`]

  it('cannot be written to, except its storage, and has the mounted files', async () => {
    const release = newRelease({
      ...bench.workload('web'),
      hasReadOnlyRoot: true,
      storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }],
      files: [
        { path: '/etc/app/deep/one', content: 'first' },
        { path: '/data/two', content: new Secret('second') },
      ],
    })
    await bench.engine.start(release, attempt())
    const run = (command: readonly string[]) => bench.engine.exec(release.service, command, limit())
    for (const path of ['/x', '/tmp/x', '/usr/x']) {
      const { exitCode, output } = await run(writes(path))
      assert.notEqual(exitCode, 0, path)
      assert.match(output, /EROFS|ENOENT/, path)
    }
    assert.equal((await run(writes('/data/x'))).exitCode, 0)
    assert.equal((await run(bench.commands.printFile('/etc/app/deep/one'))).output, 'first')
    assert.equal((await run(bench.commands.printFile('/data/two'))).output, 'second')
    await bench.engine.erase(release.service, attempt())
  })

  it('lets a job write its output file', async () => {
    const tasks = await openTaskBench({ socketPath, image })
    const release = newTask({ ...tasks.task('writes'), outputFile, hasReadOnlyRoot: true })
    const run = newId()
    await tasks.engine.prepareTask(release, run, attempt())
    const outcome = await tasks.engine.runTask(release, run, attempt())
    await tasks.engine.endTask(run, attempt())
    await tasks.close()
    assert.equal(outcome.exitCode, 0, outcome.lastLines.join())
    assert.ok(outcome.output)
  })
})

describe('lifecycle commands', () => {
  let bench: DockerBench
  before(async () => {
    bench = await openDockerBench({ socketPath, image })
  })
  after(() => bench?.close())
  const storage = () => [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
  const note = (text: string) => ['node', '-e', `fs.appendFileSync('/data/notes', ${JSON.stringify(text)})`]
  const notes = async (service: string) =>
    (await bench.engine.exec(service, bench.commands.printFile('/data/notes'), limit())).output

  it('run after each start of a replica, also after one that Docker has restarted', async () => {
    const release = newRelease({ ...bench.workload('web'), storage: storage(), postStart: note('started ') })
    const [endpoint] = await bench.engine.start(release, attempt())
    assert.equal(await notes(release.service), 'started ')
    assert.deepEqual(await bench.engine.followRestarts(limit()), [])
    assert.equal(await notes(release.service), 'started ')
    const { State } = await bench.inspect(endpoint?.replica ?? '')
    process.kill(State.Pid, 'SIGKILL')
    await until('it runs the command again', async () => {
      await bench.engine.followRestarts(limit())
      return (await notes(release.service).catch(() => '')) === 'started started '
    })
    await bench.engine.followRestarts(limit())
    // Another process does not know of earlier starts: it repeats the command of a restarted
    // replica, once.
    const other = bench.anotherEngine()
    await other.followRestarts(limit())
    await other.followRestarts(limit())
    assert.equal(await notes(release.service), 'started started started ')
    await bench.engine.erase(release.service, attempt())
  })

  it('fail the start of a release with the output of the command, without its secrets', async () => {
    const postStart = ['node', '-e', 'console.log("no " + process.env.PASSWORD); process.exitCode = 4']
    const variables = { PASSWORD: new Secret('correct horse') }
    const release = newRelease({ ...bench.workload('web'), variables, postStart })
    await assert.rejects(bench.engine.start(release, attempt()), (error) => {
      assert.ok(error instanceof EngineError)
      assert.match(error.message, /post-start command ended with exit code 4/)
      assert.equal(error.lastLines.length, 1)
      assert.ok(!error.lastLines.join().includes('correct horse'), error.lastLines.join())
      return true
    })
    assert.equal((await bench.engine.observe(release.service, limit())).state, 'absent')
  })

  it('run before a replica ends, within its grace time', async () => {
    const kept = storage()
    const first = newRelease({ ...bench.workload('web'), storage: kept, preStop: note('ending ') })
    await bench.engine.start(first, attempt())
    await bench.engine.retire(first.service, undefined, attempt())
    const second = newRelease(
      {
        ...bench.workload('web'),
        storage: kept,
        stopGraceSeconds: 3,
        preStop: ['node', '-e', 'setTimeout(() => {}, 600000)'],
      },
      { service: first.service },
    )
    await bench.engine.start(second, attempt())
    assert.equal(await notes(first.service), 'ending ')
    const begun = performance.now()
    await bench.engine.retire(first.service, undefined, attempt())
    const tookMs = performance.now() - begun
    assert.ok(tookMs > 2_500 && tookMs < 30_000, `${tookMs} ms`)
    await bench.engine.erase(first.service, attempt())
  })
})
