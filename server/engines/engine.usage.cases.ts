import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../../test/support/until.ts'
import { newId } from '../lib/id.ts'
import { attempt, type EngineBench, newRelease } from './engine.cases.ts'
import type { LongRunning, Release, ReplicaUsage } from './engine.ts'

export interface UsageBench extends EngineBench {
  /** A program that uses all its CPU. */
  busy(): LongRunning
  /** Makes the replicas of a busy release use CPU. */
  load(release: Release): void
}

/** The usage suite for every engine. */
export function usageCases(name: string, open: () => Promise<UsageBench>): void {
  describe(`usage reported by engine ${name}`, () => {
    let bench: UsageBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    const signal = (): AbortSignal => AbortSignal.timeout(60_000)

    it('reports usage and limits of each running replica, and of no other', async () => {
      const { engine, workload } = bench
      const release = newRelease({ ...workload('web'), replicas: { min: 2, max: 2 } })
      assert.deepEqual(await engine.usage(newId(), signal()), [])
      await engine.start(release, attempt())
      let usage: ReplicaUsage[] = []
      // Some engines measure at an interval.
      await until('both replicas are measured', async () => {
        usage = await engine.usage(release.service, signal())
        return usage.length === 2
      })
      const seen = await engine.observe(release.service, signal())
      assert.ok(seen.state !== 'absent')
      assert.deepEqual(usage.map(({ replica }) => replica).sort(), seen.replicas.map((replica) => replica.name).sort())
      for (const one of usage) {
        assert.equal(one.cpuLimitMilli, release.workload.cpuMilli)
        assert.equal(one.memoryLimitMiB, release.workload.memoryMiB)
        assert.ok(one.memoryMiB > 0 && one.memoryMiB < one.memoryLimitMiB, JSON.stringify(one))
        assert.ok(one.cpuMilli >= 0 && one.cpuMilli <= one.cpuLimitMilli * 1.5, JSON.stringify(one))
      }
      await engine.erase(release.service, attempt())
      assert.deepEqual(await engine.usage(release.service, signal()), [])
    })

    it('reports the machines on which replicas run, with their capacity and the pods of everybody', async () => {
      const release = newRelease(bench.workload('web'))
      await bench.engine.start(release, attempt())
      const machines = await bench.engine.machines(signal())
      assert.ok(machines.length > 0)
      for (const { name, conditions, capacity, allocatable, isSchedulable } of machines) {
        assert.ok(name !== '' && isSchedulable)
        assert.ok(allocatable.cpuMilli > 0 && allocatable.cpuMilli <= capacity.cpuMilli)
        assert.ok(allocatable.memoryMiB > 0 && allocatable.memoryMiB <= capacity.memoryMiB)
        const ready = conditions.find(({ type }) => type === 'Ready')
        assert.ok(conditions.length === 0 || ready?.status === 'True', JSON.stringify(conditions))
      }
      assert.ok(machines.some(({ pods }) => pods > 0))
      await bench.engine.erase(release.service, attempt())
    })

    it('reports a program that uses all its CPU', async () => {
      const release = newRelease(bench.busy())
      await bench.engine.start(release, attempt())
      bench.load(release)
      let last: ReplicaUsage[] = []
      await until('the load is seen', async () => {
        last = await bench.engine.usage(release.service, signal())
        return last.length === 1 && last.every(({ cpuMilli, cpuLimitMilli }) => cpuMilli > 0.5 * cpuLimitMilli)
      })
      assert.ok((last[0]?.cpuMilli ?? 0) < 1.5 * release.workload.cpuMilli, JSON.stringify(last))
      await bench.engine.erase(release.service, attempt())
    })
  })
}
