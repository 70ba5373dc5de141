import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../../../test/support/until.ts'
import { silent } from '../../lib/attempt.ts'
import { systemClock } from '../../lib/clock.ts'
import { newId } from '../../lib/id.ts'
import { Secret } from '../../lib/secret.ts'
import { archiveCases } from '../engine.archives.cases.ts'
import { attempt, type EngineBench, engineCases, newRelease } from '../engine.cases.ts'
import { type DiskBench, diskCases } from '../engine.disk.cases.ts'
import { engineImagesCases, type ImagesBench } from '../engine.images.cases.ts'
import { publishingCases } from '../engine.publishing.cases.ts'
import { shellCases } from '../engine.shell.cases.ts'
import { taskFiles, taskFilesCases } from '../engine.task-files.cases.ts'
import { taskCases } from '../engine.tasks.cases.ts'
import type { Release, Task } from '../engine.ts'
import { usageCases } from '../engine.usage.cases.ts'
import { type VolumeBench, volumeCases } from '../engine.volumes.cases.ts'
import { FakeEngine } from './fake-engine.ts'
import { fakeTask, fakeWorkload } from './fake-workload.ts'

function openBench(engine = new FakeEngine({ clock: systemClock })): Promise<EngineBench> {
  engine.behave('web', { lines: ['up'] })
  engine.behave('crash', { outcome: 'crashes', exitCode: 3, lines: ['boom'] })
  engine.behave('out-of-memory', { outcome: 'out-of-memory' })
  engine.behave('never-listens', { outcome: 'never-ready' })
  engine.behave('image-missing', { outcome: 'image-missing' })
  return Promise.resolve({
    engine,
    workload: (program) => fakeWorkload(program, program === 'portless' ? [] : [8080]),
    answers: async (endpoint) =>
      [...(await engine.observeAll(AbortSignal.timeout(60_000))).values()].some(
        (observation) =>
          observation.state !== 'absent' && observation.replicas.some(({ name }) => name === endpoint.replica),
      ),
    commands: {
      printVariable: (name) => ['printenv', name],
      printFile: (path) => ['cat', path],
      exitWith: (code) => ['exit', code],
    },
    remove: async (replica) => engine.drop(replica),
    close: async () => {},
  })
}

engineCases('fake', () => openBench())
const openVolumeBench = async (): Promise<VolumeBench> => {
  const engine = new FakeEngine({ clock: systemClock })
  const volumeOf = ({ workload }: Release) => workload.storage[0]?.id ?? ''
  const write = async (release: Release, text: string) => engine.volumes.write(volumeOf(release), text)
  return { ...(await openBench(engine)), write, read: async (release) => engine.volumes.read(volumeOf(release)) }
}
volumeCases('fake', openVolumeBench)
archiveCases('fake', openVolumeBench)
async function openDiskBench(): Promise<DiskBench> {
  const engine = new FakeEngine({ clock: systemClock })
  const bench = await openBench(engine)
  return {
    ...bench,
    another: new FakeEngine({ clock: systemClock }),
    write: async ({ service, workload }, place, written) => {
      const seen = await engine.observe(service, AbortSignal.timeout(60_000))
      const replica = seen.state === 'absent' ? '' : (seen.replicas[0]?.name ?? '')
      engine.written.set(place === 'layer' ? replica : (workload.storage[0]?.id ?? ''), written)
    },
    writer: () => fakeTask('writes'),
    hasRun: (run, written) => void engine.written.set(run, written),
  }
}
diskCases('fake', openDiskBench)
shellCases('fake', async () => ({ ...(await openBench()), terminalCommand: ['terminal'], echoCommand: ['echo'] }))
usageCases('fake', async () => {
  const engine = new FakeEngine({ clock: systemClock })
  const busy = () => fakeWorkload('web')
  const load = ({ service, workload }: Release) => engine.use(service, { cpuMilli: workload.cpuMilli })
  return { ...(await openBench(engine)), busy, load }
})
publishingCases('fake', async () => {
  const engine = new FakeEngine({ clock: systemClock })
  const answers = async ({ port }: { readonly port: number }) => engine.publishes(port)
  return { ...(await openBench(engine)), answers, freePort: async () => 30_000 }
})

taskCases('fake', async () => {
  const engine = new FakeEngine({ clock: systemClock })
  engine.behave('works', { task: { lines: ['done'] } })
  engine.behave('writes', { task: { lines: ['done'], output: '{"KEY":{"value":"one"}}' } })
  engine.behave('fails', { task: { lines: ['said canary-1905', 'and canary-1906'], exitCode: 3 } })
  engine.behave('endless', { task: { lines: ['up'], runsMs: 'forever' } })
  engine.behave('out-of-memory', { task: { outOfMemory: true } })
  engine.behave('image-missing', { outcome: 'image-missing' })
  const remove = (run: string) => engine.endTask(run, attempt())
  return { engine, another: engine, task: fakeTask, remove, removeNetwork: async () => {}, close: async () => {} }
})
taskFilesCases('fake', async () => {
  const engine = new FakeEngine({ clock: systemClock })
  const copied = ({ workload }: Release<Task>) => ({
    [taskFiles.output]: `${Buffer.from(workload.inputFiles?.[0]?.content ?? '').toString()} copied`,
  })
  engine.behave('copies', { task: { files: copied } })
  engine.behave('fails', { task: { files: copied, exitCode: 3 } })
  engine.behave('floods', { task: { files: () => ({ [taskFiles.output]: 'x'.repeat(taskFiles.mostBytes + 1) }) } })
  engine.behave('hoards', { task: { files: copied } })
  engine.behave('hangs', { task: { files: copied, lines: ['up'], runsMs: 'forever' } })
  return { engine, task: fakeTask, close: async () => {} }
})
function openImagesBench(): Promise<ImagesBench> {
  const engine = new FakeEngine({ clock: systemClock })
  const { images } = engine
  images.password = 'password'
  const image = (tag: string): string => `registry.test/team/small:${tag}`
  engine.behave(image('none'), { outcome: 'image-missing' })
  return Promise.resolve({
    engine,
    login: { username: 'robot', password: new Secret(images.password) },
    image,
    push: async (tag) => images.push(image(tag)),
    make: async (tag) => images.make(image(tag)),
    goAway: async () => {
      images.registryIsThere = false
    },
    comeBack: async () => {
      images.registryIsThere = true
    },
    close: async () => {},
  })
}

engineImagesCases('fake', openImagesBench)

describe('the fake engine on demand', () => {
  it('counts what it really did', async () => {
    const engine = new FakeEngine({ clock: systemClock })
    const release = newRelease({ ...fakeWorkload('web'), storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }] })
    for (let times = 0; times < 3; times++) await engine.start(release, attempt())
    for (let times = 0; times < 3; times++) await engine.erase(release.service, attempt())
    for (let times = 0; times < 3; times++) await engine.eraseEnvironment(release.environment, attempt())
    assert.deepEqual(engine.effects, {
      created: 1,
      removed: 1,
      volumesMade: 1,
      volumesRemoved: 1,
      networksMade: 1,
      networksRemoved: 1,
    })
  })

  it('keeps volumes when a service is retired', async () => {
    const engine = new FakeEngine({ clock: systemClock })
    const release = newRelease({ ...fakeWorkload('web'), storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }] })
    await engine.start(release, attempt())
    await engine.retire(release.service, undefined, attempt())
    assert.equal(engine.effects.volumesRemoved, 0)
  })

  it('changes nothing while it is unreachable, and continues afterwards', async () => {
    const engine = new FakeEngine({ clock: systemClock })
    const release = newRelease(fakeWorkload('web'))
    engine.reachable = false
    await assert.rejects(engine.start(release, attempt()), { reason: 'unreachable' })
    await assert.rejects(engine.ping(AbortSignal.timeout(60_000)), { reason: 'unreachable' })
    engine.reachable = true
    assert.equal(engine.effects.created, 0)
    assert.equal((await engine.start(release, attempt())).length, 1)
  })

  it('starts slowly by its own clock', async () => {
    const slept: number[] = []
    const clock = { ...systemClock, sleep: async (ms: number) => void slept.push(ms) }
    const engine = new FakeEngine({ clock })
    engine.behave('slow', { healthyAfterMs: 5_000 })
    await engine.start(newRelease(fakeWorkload('slow')), { signal: AbortSignal.timeout(60_000), output: silent })
    assert.deepEqual(slept, [5_000])
  })

  it('reports a service that exits repeatedly as failing', async () => {
    const engine = new FakeEngine({ clock: systemClock })
    const release = newRelease(fakeWorkload('web'))
    await engine.start(release, attempt())
    engine.crash(release.service, 9)
    const observation = await engine.observe(release.service, AbortSignal.timeout(60_000))
    assert.equal(observation.state, 'failing')
    assert.equal(observation.state === 'failing' && observation.reason, 'exited with code 9, 3 times')
    assert.ok(observation.state === 'failing' && observation.replicas[0]?.finishedAt)
  })

  it('passes lines printed later to a follower', async () => {
    const engine = new FakeEngine({ clock: systemClock })
    const release = newRelease(fakeWorkload('web'))
    await engine.start(release, attempt())
    const end = new AbortController()
    const texts: string[] = []
    const following = (async () => {
      for await (const { text } of engine.logs(release.service, { follow: true }, end.signal)) texts.push(text)
    })()
    engine.print(release.service, 'one')
    engine.print(release.service, 'two')
    await until('both lines', () => texts.length === 2)
    end.abort()
    await following
    assert.deepEqual(texts, ['one', 'two'])
  })
})
