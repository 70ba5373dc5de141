import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { until } from '../../test/support/until.ts'
import { attempt, type EngineBench, newRelease } from './engine.cases.ts'
import type { Release } from './engine.ts'

/** An engine whose replicas have commands for terminals. */
export interface ShellBench extends EngineBench {
  /**
   * Prints `size <columns>x<rows>` at the start and when that changes, answers each line with `said
   * <line>`, and ends at `exit`.
   */
  readonly terminalCommand: readonly string[]
  /** Prints the bytes of its input, and ends with code 3 when the input ends. */
  readonly echoCommand: readonly string[]
}

/** The suite of terminals and connections for every engine. */
export function shellCases(name: string, open: () => Promise<ShellBench>): void {
  describe(`terminals of engine ${name}`, () => {
    let bench: ShellBench
    let release: Release
    let replica: string
    const limit = (): AbortSignal => AbortSignal.timeout(120_000)
    before(async () => {
      bench = await open()
      release = newRelease(bench.workload('web'))
      const [endpoint] = await bench.engine.start(release, attempt())
      replica = endpoint?.replica ?? ''
    })
    after(async () => {
      await bench.engine.erase(release.service, attempt())
      await bench.close()
    })
    const openShell = (more = {}, signal = limit()) =>
      bench.engine.shell(release.service, { command: bench.terminalCommand, columns: 90, rows: 30, ...more }, signal)

    it('runs a command in a terminal with a size, passes input to it, and ends when the command does', async () => {
      const { stream, resize } = await openShell({ replica })
      let printed = ''
      stream.on('data', (chunk) => {
        printed += chunk
      })
      const ended = new Promise((resolve) => stream.once('end', resolve))
      await until('the size', () => printed.includes('size 90x30'))
      await resize(120, 40)
      await until('the new size', () => printed.includes('size 120x40'))
      stream.write('one two\r')
      await until('the answer', () => printed.includes('said one two'))
      stream.write('exit\r')
      await ended
    })

    it('without a terminal passes every byte both ways, ends its input at a lone byte 04, and returns the exit code', async () => {
      const wish = { command: bench.echoCommand, columns: 0, rows: 0, replica }
      const { stream, exitCode } = await bench.engine.shell(release.service, wish, limit())
      const sent = Buffer.from(Array.from({ length: 256 * 40 }, (_, index) => index % 256))
      const got: Buffer[] = []
      stream.on('data', (chunk) => got.push(chunk))
      const ended = new Promise((resolve) => stream.once('end', resolve))
      for (let at = 0; at < sent.length; at += 4096) stream.write(sent.subarray(at, at + 4096))
      await until('the bytes', () => Buffer.concat(got).length === sent.length)
      stream.write(Buffer.from([4]))
      await ended
      assert.deepEqual(Buffer.concat(got), sent)
      assert.equal(await exitCode(), 3)
    })

    it('ends the terminal when the signal is aborted', async () => {
      const stop = new AbortController()
      const { stream } = await openShell({}, stop.signal)
      const closed = new Promise((resolve) => stream.once('close', resolve))
      stop.abort()
      await closed
    })

    it('rejects replicas of other services', async () => {
      await assert.rejects(openShell({ replica: 'somebody-else' }), { reason: 'refused' })
      await assert.rejects(bench.engine.connect(release.service, 8080, 'somebody-else', limit()), { reason: 'refused' })
      const wish = { command: bench.terminalCommand, columns: 80, rows: 24 }
      await assert.rejects(bench.engine.shell(release.environment, wish, limit()), { reason: 'refused' })
    })

    it('carries the bytes of a port, and reports a port on which nothing listens', async () => {
      const socket = await bench.engine.connect(release.service, 8080, undefined, limit())
      let answer = ''
      socket.on('data', (chunk) => {
        answer += chunk
      })
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await until('the answer', () => answer.startsWith('HTTP/1.1 200') && answer.includes('ok'))
      socket.destroy()
      await assert.rejects(bench.engine.connect(release.service, 8081, replica, limit()), { reason: 'unreachable' })
    })
  })
}
