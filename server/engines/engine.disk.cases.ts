import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newId } from '../lib/id.ts'
import { attempt, type EngineBench, newRelease } from './engine.cases.ts'
import { newTask } from './engine.tasks.cases.ts'
import type { Engine, Release, Task } from './engine.ts'

/** What a program writes: bytes in one file, and empty files. */
export interface Written {
  readonly bytes: number
  readonly files: number
}

export interface DiskBench extends EngineBench {
  /** The same engine as another installation sees it. */
  readonly another: Engine
  /** Makes a running service write outside its volumes or into its first one. */
  write(release: Release, place: 'layer' | 'volume', written: Written): Promise<void>
  /** Returns a task that writes outside volumes and ends. */
  writer(written: Written): Task
  /** Called when the run that wrote this has ended. */
  hasRun(run: string, written: Written): void
}

const mebibyte = 1024 ** 2
const inVolume = { bytes: 5 * mebibyte, files: 300 }
const inLayer = { bytes: 3 * mebibyte, files: 200 }
const inRun = { bytes: 2 * mebibyte, files: 100 }
/** Inodes that the engine itself needs, such as directories. */
const isAbout = (found: number | undefined, wrote: number, slack: number): void =>
  assert.ok(found !== undefined && found >= wrote && found <= wrote + slack, `${found} instead of ${wrote}`)

/** The disk suite for every engine. */
export function diskCases(name: string, open: () => Promise<DiskBench>): void {
  describe(`the disk of engine ${name}`, () => {
    let bench: DiskBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    const signal = (): AbortSignal => AbortSignal.timeout(120_000)

    /** Starts a service and completes a run; both have written. */
    async function fill() {
      const storage = [{ id: newId(), mountPoint: '/data', sizeGiB: 1 }]
      const release = newRelease({ ...bench.workload('web'), storage })
      await bench.engine.start(release, attempt())
      await bench.write(release, 'volume', inVolume)
      await bench.write(release, 'layer', inLayer)
      const job = newTask(bench.writer(inRun))
      const run = newId()
      await bench.engine.prepareTask(job, run, attempt())
      assert.equal((await bench.engine.runTask(job, run, attempt())).exitCode, 0)
      bench.hasRun(run, inRun)
      return { release, volume: storage[0]?.id, job, run }
    }
    async function clear({ release, job }: Awaited<ReturnType<typeof fill>>): Promise<void> {
      for (const { service, environment } of [release, job]) {
        await bench.engine.erase(service, attempt())
        await bench.engine.eraseEnvironment(environment, attempt())
      }
    }

    it('reports the free space', async () => {
      const space = await bench.engine.diskSpace(signal())
      assert.ok(space, 'it can be seen from here')
      assert.ok(space.freeBytes > 0 && space.freeBytes < space.totalBytes, JSON.stringify(space))
      assert.ok(space.freeInodes >= 0 && space.freeInodes <= space.totalInodes, JSON.stringify(space))
    })

    it('reports the size of each volume, replica and run of this installation only', async () => {
      const filled = await fill()
      const { release, volume, job, run } = filled
      const found = await bench.engine.disk(signal())
      isAbout(found.volumes.find(({ id }) => id === volume)?.bytes, inVolume.bytes, mebibyte)
      const layers = found.layers.filter(({ service }) => service === release.service)
      assert.deepEqual(
        layers.map((layer) => layer.release),
        [release.id],
      )
      isAbout(layers[0]?.bytes, inLayer.bytes, mebibyte)
      assert.ok(!found.layers.some(({ service }) => service === job.service))
      const runs = found.runs.filter(({ service }) => service === job.service)
      assert.deepEqual(
        runs.map((one) => one.run),
        [run],
      )
      isAbout(runs[0]?.bytes, inRun.bytes, mebibyte)
      const { volumes, layers: others, runs: otherRuns } = await bench.another.disk(signal())
      assert.deepEqual([volumes, others, otherRuns], [[], [], []])
      await bench.engine.endTask(run, attempt())
      assert.ok(!(await bench.engine.disk(signal())).runs.some((one) => one.run === run))
      await clear(filled)
    })

    it('counts the inodes of each volume, replica and run of this installation only', async () => {
      const filled = await fill()
      const { release, volume, job, run } = filled
      const found = await bench.engine.countInodes(1_000_000, signal())
      assert.ok(found, 'it can be read from here')
      isAbout(found.volumes.find(({ id }) => id === volume)?.inodes, inVolume.files, 20)
      isAbout(found.layers.find(({ service }) => service === release.service)?.inodes, inLayer.files, 20)
      isAbout(found.runs.find((one) => one.run === run)?.inodes, inRun.files, 20)
      assert.ok(!found.layers.some(({ service }) => service === job.service))
      assert.deepEqual(await bench.another.countInodes(1_000_000, signal()), { volumes: [], layers: [], runs: [] })
      const bounded = await bench.engine.countInodes(50, signal())
      assert.ok((bounded?.volumes.find(({ id }) => id === volume)?.inodes ?? 0) > 50, 'it is over the limit still')
      await clear(filled)
    })
  })
}
