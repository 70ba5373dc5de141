import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { attempt, type EngineBench, newRelease } from './engine.cases.ts'
import { EngineError, type LongRunning } from './engine.ts'

export interface PublishingBench extends EngineBench {
  /** An unused port of the machine. */
  freePort(): Promise<number>
}

/** The suite of published ports for every engine. */
export function publishingCases(name: string, open: () => Promise<PublishingBench>): void {
  describe(`ports published by engine ${name}`, () => {
    let bench: PublishingBench
    before(async () => {
      bench = await open()
    })
    after(() => bench?.close())
    const publishing = (hostPort: number): LongRunning => ({
      ...bench.workload('web'),
      publishedPorts: [{ internalPort: 8080, protocol: 'TCP', hostAddress: '127.0.0.1', hostPort }],
    })

    it('are open on the machine until the release is removed, and a second release cannot have the same one', async () => {
      const { engine, answers } = bench
      const hostPort = await bench.freePort()
      const onMachine = { replica: '', address: '127.0.0.1', port: hostPort }
      const first = newRelease(publishing(hostPort))
      await engine.start(first, attempt())
      assert.equal(await answers(onMachine), true)
      const second = newRelease(publishing(hostPort))
      await assert.rejects(engine.start(second, attempt()), (error) => {
        assert.ok(error instanceof EngineError)
        assert.equal(error.reason, 'refused')
        assert.match(error.message, new RegExp(`^port ${hostPort} of the machine is in use`))
        return true
      })
      const left = await engine.observe(second.service, AbortSignal.timeout(60_000))
      assert.equal(left.state, 'absent')
      await engine.erase(first.service, attempt())
      await engine.start(second, attempt())
      assert.equal(await answers(onMachine), true)
      await engine.erase(second.service, attempt())
    })
  })
}
