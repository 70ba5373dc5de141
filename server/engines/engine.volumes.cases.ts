import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newId } from '../lib/id.ts'
import { attempt, type EngineBench, newRelease } from './engine.cases.ts'
import type { Release } from './engine.ts'

export interface VolumeBench extends EngineBench {
  /** Writes into the first volume of a running service, and reads from it. */
  write(release: Release, text: string): Promise<void>
  read(release: Release): Promise<string>
}

/** The suite of volume copies for every engine. */
export function volumeCases(name: string, open: () => Promise<VolumeBench>): void {
  describe(`volumes on engine ${name}`, () => {
    let bench: VolumeBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    const withVolume = (): Release =>
      newRelease({ ...bench.workload('web'), storage: [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }] })
    const volumeOf = ({ workload }: Release): string => workload.storage[0]?.id ?? ''
    const wish = (from: Release, to: Release) => ({ from: volumeOf(from), to: volumeOf(to), owner: to, sizeGiB: 1 })
    const copy = (from: Release, to: Release, signal?: AbortSignal) =>
      bench.engine.copyVolumes([wish(from, to)], { mostStandingSeconds: 60 }, attempt(signal))
    const exits = async ({ service }: Release) => {
      const seen = await bench.engine.observe(service, AbortSignal.timeout(60_000))
      return seen.state === 'running' ? seen.replicas.map((replica) => replica.exits) : seen.state
    }

    it('copies a volume while its service continues, and keeps both independent', async () => {
      const [source, target] = [withVolume(), withVolume()]
      await bench.engine.start(source, attempt())
      await bench.write(source, 'before')
      assert.ok((await copy(source, target)) > 0)
      assert.deepEqual(await exits(source), [0])
      await bench.write(source, 'after')
      await bench.engine.start(target, attempt())
      assert.equal(await bench.read(target), 'before')
      await bench.write(target, 'its own')
      assert.equal(await bench.read(source), 'after')
      await bench.engine.erase(source.service, attempt())
      assert.equal(await bench.read(target), 'its own')
      await bench.engine.erase(target.service, attempt())
    })

    it('replaces an earlier copy, copies the volume of a stopped service and skips a missing one', async () => {
      const [source, target] = [withVolume(), withVolume()]
      assert.equal(await copy(source, target), 0)
      await bench.engine.start(source, attempt())
      await bench.write(source, 'one')
      await copy(source, target)
      await bench.write(source, 'two')
      await bench.engine.retire(source.service, undefined, attempt())
      await copy(source, target)
      await bench.engine.start(target, attempt())
      assert.equal(await bench.read(target), 'two')
      for (const { service } of [source, target]) await bench.engine.erase(service, attempt())
    })

    it('resumes paused services when a copy is cancelled', async () => {
      const [source, target] = [withVolume(), withVolume()]
      await bench.engine.start(source, attempt())
      await bench.write(source, 'here')
      await assert.rejects(copy(source, target, AbortSignal.abort(new Error('given up'))), /given up/)
      assert.equal(await bench.read(source), 'here')
      assert.deepEqual(await bench.engine.resume(AbortSignal.timeout(60_000)), [])
      for (const { service } of [source, target]) await bench.engine.erase(service, attempt())
    })

    it('copies volumes of several services at once, and reports the bytes copied', async () => {
      const [first, second, ...targets] = [withVolume(), withVolume(), withVolume(), withVolume()]
      const sources = [first, second]
      await Promise.all(sources.map((source) => bench.engine.start(source, attempt())))
      await Promise.all(sources.map((source, index) => bench.write(source, `text ${index}`)))
      const told: number[] = []
      const wishes = sources.map((source, index) => wish(source, targets[index] ?? source))
      const limits = { mostStandingSeconds: 60, tell: (bytes: number) => void told.push(bytes) }
      assert.equal(await bench.engine.copyVolumes(wishes, limits, attempt()), told.at(-1))
      for (const [index, target] of targets.entries()) {
        await bench.engine.start(target, attempt())
        assert.equal(await bench.read(target), `text ${index}`)
      }
      for (const { service } of [...sources, ...targets]) await bench.engine.erase(service, attempt())
    })

    it('cancels a copy that exceeds its pause limit, and every service continues', async () => {
      const [source, target] = [withVolume(), withVolume()]
      await bench.engine.start(source, attempt())
      await bench.write(source, 'here')
      const late = bench.engine.copyVolumes([wish(source, target)], { mostStandingSeconds: 0 }, attempt())
      await assert.rejects(late, /were paused for 0 s/)
      assert.equal(await bench.read(source), 'here')
      for (const { service } of [source, target]) await bench.engine.erase(service, attempt())
    })
  })
}
