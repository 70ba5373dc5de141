import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { imageName } from '../../../test/kubernetes/cluster/build.ts'
import { adminAccess, loopbackGuard } from '../../../test/kubernetes/support/access.ts'
import { type ApiProxy, startApiProxy } from '../../../test/kubernetes/support/api-proxy.ts'
import { until } from '../../../test/support/until.ts'
import { systemClock as clock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { taskOf } from '../docker/test-task-bench.ts'
import { attempt } from '../engine.cases.ts'
import { type FileProgram, taskFiles, taskFilesCases } from '../engine.task-files.cases.ts'
import { newTask } from '../engine.tasks.cases.ts'
import type { Task } from '../engine.ts'
import { kinds } from './client/index.ts'
import { KubernetesEngine } from './kubernetes-engine.ts'
import { ownLabels } from './labels.ts'
import { type KubernetesBench, missingImage, openKubernetesBench } from './test-bench.ts'

const image = imageName('tools')
const limit = (): AbortSignal => AbortSignal.timeout(60_000)
const copy = `{ cat ${taskFiles.input}; printf ' copied'; } >${taskFiles.output}`
const programs: Record<FileProgram, string> = {
  copies: copy,
  fails: `${copy}; exit 3`,
  floods: `head -c ${taskFiles.mostBytes + 1} /dev/zero >${taskFiles.output}`,
  hoards: `${copy}; head -c ${8 * taskFiles.mostBytes} /dev/zero >/quayside-run/a`,
  hangs: `trap 'exit 7' TERM; ${copy}; echo up; while :; do sleep 3600 & wait $!; done`,
}

const task = (program: string): Task => ({
  ...taskOf(image, 'works'),
  entrypoint: ['/bin/sh', '-c', program],
  arguments: [],
  cpuMilli: 100,
})

taskFilesCases('kubernetes', async () => {
  const { engine, close } = await openKubernetesBench({ image })
  return { engine, task: (program) => task(programs[program]), close }
})

it('the pod of a run ends when it is freed, keeps its lines, and reserves nothing', async (t) => {
  const bench = await openKubernetesBench({ image })
  t.after(() => bench.close())
  const { engine, kube } = bench
  const release = newTask({ ...task('echo ran'), outputFiles: [{ path: taskFiles.output, mostBytes: 10 }] })
  const run = newId()
  await engine.prepareTask(release, run, attempt())
  await engine.runTask(release, run, attempt())
  const pods = async () => (await kube.list(kinds.pod, { labels: ownLabels(bench.instance) }, limit())).items
  assert.deepEqual(
    (await pods()).map(({ status }) => status?.phase),
    ['Running'],
  )
  await engine.freeTask(run, attempt())
  assert.deepEqual(
    (await pods()).map(({ status }) => status?.phase),
    ['Succeeded'],
  )
  const lines: string[] = []
  for await (const { text } of engine.logs(release.service, { follow: false }, limit())) lines.push(text)
  assert.deepEqual(lines, ['ran'])
})

for (const [what, change, line] of [
  ['no node has room', { cpuMilli: 900_000 }, /^The run waits: no node takes it: .*Insufficient cpu/],
  ['no node has the label', { nodeLabels: { 'a.test/none': 'none' } }, /^The run waits: no node takes it: /],
] as const) {
  it(`a run for which ${what} says what it waits for, and can be ended`, async (t) => {
    const bench = await openKubernetesBench({ image })
    t.after(() => bench.close())
    const { engine } = bench
    const release = newTask({
      ...task('echo ran'),
      ...change,
      inputFiles: [{ path: taskFiles.input, content: Buffer.from('one') }],
    })
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    const lines: string[] = []
    const leave = new AbortController()
    const output = { line: (text: string) => void lines.push(text) }
    const waiting = assert.rejects(engine.runTask(release, run, { signal: leave.signal, output }), /left/)
    await until('it says what it waits for', () => lines.some((text) => line.test(text)))
    leave.abort(new Error('left'))
    await waiting
    assert.equal(await engine.stopTask(release, run, attempt()), undefined)
    await engine.endTask(run, attempt())
    assert.deepEqual(await engine.listTasks(limit()), [])
  })
}

it('a run whose helper image is missing fails with the setting that names it', async (t) => {
  const bench = await openKubernetesBench({ image })
  t.after(() => bench.close())
  const { instance } = bench
  const options = { instance, guard: loopbackGuard, clock, helperImage: missingImage, registry: undefined }
  const engine = new KubernetesEngine({ access: adminAccess, ...options })
  t.after(() => engine.close())
  const release = newTask({ ...task('echo ran'), outputFiles: [{ path: taskFiles.output, mostBytes: 10 }] })
  const run = newId()
  await engine.prepareTask(release, run, attempt())
  const reason = { reason: 'image-missing', message: /\(QUAYSIDE_CLUSTER_TOOLS_IMAGE\)$/ }
  await assert.rejects(engine.runTask(release, run, attempt()), reason)
})

describe('a connection that breaks while files of a task travel', () => {
  const sixMiB = Buffer.alloc(6 * 2 ** 20, 'abc')
  let bench: KubernetesBench
  let proxy: ApiProxy
  let engine: KubernetesEngine
  before(async () => {
    bench = await openKubernetesBench({ image })
    proxy = await startApiProxy()
    const { instance } = bench
    const options = { instance, guard: loopbackGuard, clock, helperImage: image, registry: undefined }
    engine = new KubernetesEngine({ access: proxy.access, ...options })
  })
  after(async () => {
    engine?.close()
    await proxy?.close()
    await bench?.close()
  })

  it('does not let the program begin without its whole input, and loses no output', async () => {
    const release = newTask({
      ...task(`cat ${taskFiles.input} >${taskFiles.output}; echo ran`),
      inputFiles: [{ path: taskFiles.input, content: sixMiB }],
      outputFiles: [{ path: taskFiles.output, mostBytes: 8 * 2 ** 20 }],
    })
    const run = newId()
    await engine.prepareTask(release, run, attempt())
    const cut = { reason: 'unreachable' }
    proxy.cutCommands(2 ** 20)
    await assert.rejects(engine.runTask(release, run, attempt()), cut)
    await assert.rejects(engine.runTask(release, run, attempt()), cut)
    assert.equal(await bench.engine.stopTask(release, run, attempt()), undefined)
    proxy.cutCommands(7 * 2 ** 20)
    const outcome = await engine.runTask(release, run, attempt())
    assert.deepEqual(outcome.lastLines, ['ran'])
    assert.ok(sixMiB.equals(outcome.files?.get(taskFiles.output)?.content ?? Buffer.alloc(0)))
    proxy.cutCommands(2 ** 20)
    await assert.rejects(engine.runTask(release, run, attempt()), cut)
    proxy.cutCommands(undefined)
    assert.ok((await engine.stopTask(release, run, attempt()))?.files?.get(taskFiles.output)?.content)
    await engine.endTask(run, attempt())
  })
})
