import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type PrivateEngine, startPrivateEngine, whyNoPrivateEngine } from '../../../test/support/private-engine.ts'
import { areInodesShort, fullInodes, mostInodes } from '../../disk/full-inodes.ts'
import { newId } from '../../lib/id.ts'
import { attempt, newRelease } from '../engine.cases.ts'
import { openDockerBench } from './test-bench.ts'
import { importTestImage } from './test-image.ts'

const image = `quayside-engine-test/inodes:${newId().slice(-8)}`
const limit = (): AbortSignal => AbortSignal.timeout(120_000)

describe('an engine on ext4 with few inodes', { skip: (await whyNoPrivateEngine()) ?? false }, () => {
  let small: PrivateEngine
  before(async () => {
    small = await startPrivateEngine({ inodes: 10_000 })
    await importTestImage(small.socketPath, image)
  })
  after(() => small?.close())

  it('reports which service used them up with empty files, and regains them when its layer is removed', async () => {
    const { engine, workload } = await openDockerBench({ socketPath: small.socketPath, image })
    const storage = [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
    const [full, layered, modest] = [0, 1, 2].map(() =>
      newRelease({ ...workload('portless'), storage: storage.map((one) => ({ ...one, id: newId() })) }),
    )
    assert.ok(full && layered && modest)
    for (const release of [full, layered, modest]) await engine.start(release, attempt())
    /** Creates empty files until no inode is left or `count` exist. Each tenth gets a hard link. */
    const make = async (service: string, directory: string, count: number) => {
      const program =
        `for (let i = 0; i < ${count}; i++) { fs.writeFileSync('${directory}/f' + i, ''); if (i % 10 === 0) ` +
        `fs.linkSync('${directory}/f' + i, '${directory}/g' + i) }`
      return engine.exec(service, ['node', '-e', program], limit())
    }
    assert.equal((await make(modest.service, '/data', 900)).exitCode, 0)
    assert.equal((await make(layered.service, '', 1500)).exitCode, 0)
    const before = await engine.diskSpace(limit())
    assert.ok(before && before.totalInodes > 9000 && before.totalInodes < 12_000, JSON.stringify(before))
    assert.match((await make(full.service, '/data', 20_000)).output, /ENOSPC/)
    const space = await engine.diskSpace(limit())
    assert.ok(space && space.freeInodes === 0 && space.freeBytes > space.totalBytes / 2, JSON.stringify(space))
    assert.equal(areInodesShort(space, 0), true)
    const counts = await engine.countInodes(mostInodes(space), limit())
    assert.ok(counts)
    const ofModest = counts.volumes.find(({ id }) => id === modest.workload.storage[0]?.id)?.inodes ?? 0
    assert.ok(ofModest >= 900 && ofModest < 910, `${ofModest}: a file with two names counts once`)
    const releases = [full, layered, modest].map(({ id, service }) => {
      return { service_id: service, release_id: id, limit_gib: null }
    })
    const storages = [full, layered, modest].map(({ id, service, workload }) => ({
      ...{ service_id: service, release_id: id, storage_id: workload.storage[0]?.id ?? '' },
      ...{ mount_point: '/data', size_gib: 1 },
    }))
    const found = fullInodes(
      counts,
      { storages, releases, organizationOf: new Map(), organizationMost: undefined },
      mostInodes(space),
    )
    assert.deepEqual([...found.services.keys()].sort(), [full.service, layered.service].sort())
    // Without a free inode the engine can still stop containers.
    await engine.retire(layered.service, undefined, attempt())
    await engine.retire(full.service, undefined, attempt())
    const left = await engine.diskSpace(limit())
    assert.ok(left && left.freeInodes > 1400, JSON.stringify(left))
    for (const { service } of [full, layered, modest]) await engine.erase(service, attempt())
  })
})
