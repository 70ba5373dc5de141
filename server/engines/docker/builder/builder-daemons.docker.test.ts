import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { pack } from 'tar-stream'
import { until } from '../../../../test/support/until.ts'
import { engineForTests } from '../../../builders/docker/engine-for-tests.ts'
import { whyNoOwnBuildKit } from '../../../builders/docker/test-own-buildkit.ts'
import { silent } from '../../../lib/attempt.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { newId } from '../../../lib/id.ts'
import { createKeyedSlots } from '../../../lib/keyed-slots.ts'
import { createContainer, stopContainer } from '../containers.ts'
import { DockerDaemon } from '../daemon.ts'
import { DockerEngine } from '../docker-engine.ts'
import { createBuilderDaemons } from './builder-daemons.ts'
import { builderName, builderSpec, localBuilderImage } from './builder-spec.ts'
import { trimBuilders } from './trim-builders.ts'
import { endUnused } from './unused-builders.ts'

const { socketPath, skip } = await engineForTests()
const instance = `test-${newId().slice(-12)}`
const owner = newId()
const name = builderName({ instance, owner })
const attempt = () => ({ signal: AbortSignal.timeout(60_000), output: silent })
const limits = { cpuMilli: 500, memoryMiB: 300 }

describe('daemons of BuildKit on a Docker Engine', { skip: await whyNoOwnBuildKit(socketPath, skip) }, () => {
  const daemon = new DockerDaemon({ socketPath, clock: systemClock })
  const engine = new DockerEngine({ socketPath, instance, clock: systemClock })
  const isolated: number[] = []
  const daemons = createBuilderDaemons({
    ...{ socketPath, instance, clock: systemClock, network: 'none' },
    findImage: async () => localBuilderImage,
    isolate: async (pid) => void isolated.push(pid),
  })
  const inspect = async () =>
    Object(await daemon.json({ method: 'GET', path: `/containers/${name}/json`, signal: attempt().signal }))
  const removeAll = async () =>
    engine.removeInstallation(await engine.listInstallation([], attempt().signal), attempt().signal)
  before(removeAll)
  after(removeAll)

  it('has the limits of its builds together, and is started and isolated once', async () => {
    const first = await daemons.hold(owner, limits, attempt())
    const second = await daemons.hold(owner, limits, attempt())
    const { HostConfig } = await inspect()
    assert.deepEqual([HostConfig.Memory, HostConfig.MemorySwap], [856 * 1024 ** 2, 856 * 1024 ** 2])
    assert.equal(HostConfig.NanoCpus, 1e9)
    assert.equal(isolated.length, 1)
    assert.equal(first.isolationProblem, undefined)
    second[Symbol.dispose]()
    first[Symbol.dispose]()
  })

  it('is no service, no run and no volume of one, and is removed with the installation', async () => {
    const { signal } = attempt()
    assert.deepEqual([...(await engine.observeAll(signal)).keys()], [])
    assert.deepEqual(await engine.listTasks(signal), [])
    const disk = await engine.disk(signal)
    assert.deepEqual(disk.volumes, [])
    const { containers, volumes } = await engine.listInstallation([], signal)
    assert.deepEqual([containers, volumes], [[name], [name]])
  })

  it('stops while nobody uses it, starts again, and is removed after a week', async () => {
    const { signal } = attempt()
    const alone = createKeyedSlots()
    const end = (clock: Clock, isUsed: boolean) =>
      endUnused({ daemon, instance, clock, alone, isUsed: () => isUsed }, signal)
    await end(systemClock, true)
    assert.equal((await inspect()).State.Running, true)
    const other = await daemons.hold(owner, limits, attempt())
    const build = await other.open(attempt())
    other[Symbol.dispose]()
    await end(systemClock, false)
    assert.equal((await inspect()).State.Running, true, 'a build of another server')
    build.destroy()
    await until('nothing is connected', async () => {
      await end(systemClock, false)
      return (await inspect()).State.Running === false
    })
    using _ = await daemons.hold(owner, limits, attempt())
    assert.equal((await inspect()).State.Running, true)
    await end(systemClock, false)
    const later = new Date(Date.now() + 8 * 24 * 3600 * 1000)
    await end({ ...systemClock, now: () => later }, false)
    const { containers, volumes } = await engine.listInstallation([], signal)
    assert.deepEqual([containers, volumes], [[], []])
  })

  it('is started while its stopped container is removed to free space', async () => {
    const { signal } = attempt()
    for (let round = 0; round < 5; round++) {
      const first = await daemons.hold(owner, limits, attempt())
      first[Symbol.dispose]()
      await stopContainer(daemon, { id: (await inspect()).Id, graceSeconds: 0 }, signal)
      const [held] = await Promise.all([
        daemons.hold(owner, limits, attempt()),
        trimBuilders({ daemon, instance }, 1e9, signal),
      ])
      held[Symbol.dispose]()
    }
  })

  it('gets its ids when a server ended before it gave them', async () => {
    const { signal } = attempt()
    await removeAll()
    const spec = builderSpec({ instance, owner, image: localBuilderImage, network: 'none', cacheBytes: 10e9 })
    const id = await createContainer(daemon, { name, spec, output: silent }, signal)
    const archive = pack()
    archive.entry({ name: 'subuid' }, 'user:100000:65536\n')
    archive.finalize()
    const file = await buffer(archive)
    await daemon.send({ method: 'PUT', path: `/containers/${id}/archive`, query: { path: '/etc' }, file, signal })
    using _ = await daemons.hold(owner, limits, attempt())
    const path = `/containers/${id}/archive`
    const ids = await daemon.stream({ method: 'GET', path, query: { path: '/etc/subuid' }, signal })
    assert.match((await buffer(ids)).toString(), /user:100000:2000000000/)
  })

  it('loses all its files when a build that wrote too much was the only one', async () => {
    const { signal } = attempt()
    const first = await daemons.hold(owner, limits, attempt())
    const before = await inspect()
    const second = await daemons.hold(owner, limits, attempt())
    await second.clearCache(signal)
    assert.equal((await inspect()).Id, before.Id)
    second[Symbol.dispose]()
    await first.clearCache(signal)
    first[Symbol.dispose]()
    const { containers, volumes } = await engine.listInstallation([], signal)
    assert.deepEqual([containers, volumes], [[], []])
    using _ = await daemons.hold(owner, limits, attempt())
    assert.equal((await inspect()).State.Running, true)
  })

  it('refuses an owner that could name another container', async () => {
    for (const bad of ['../x', 'A', '', 'x'.repeat(81)]) {
      await assert.rejects(async () => daemons.hold(bad, limits, attempt()), /cannot be part of a name/)
    }
  })
})
