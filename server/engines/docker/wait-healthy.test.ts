import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { type Clock, systemClock } from '../../lib/clock.ts'
import type { EngineError, LongRunning } from '../engine.ts'
import { fakeWorkload } from '../fake/fake-workload.ts'
import { Events } from './events.ts'
import type { ReplicaState } from './replica-state.ts'
import { pretend } from './test-daemon.ts'
import { untilHealthy } from './wait-healthy.ts'

interface Bench {
  readonly started: number
  readonly lines: string[]
  /** Resolves with the first check, which the test answers. */
  readonly asked: Promise<ServerResponse>
  wait(options: { readonly deadlineInMs: number; readonly clock?: Clock }): Promise<ReplicaState>
}

/** One replica in a fake daemon, with an HTTP check that the test answers. */
async function withReplica(status: 'running' | 'exited', test: (bench: Bench) => Promise<void>): Promise<void> {
  const first = Promise.withResolvers<ServerResponse>()
  const program = createServer((_request, response) => first.resolve(response)).listen(0, '127.0.0.1')
  await once(program, 'listening')
  const bound = program.address()
  const port = typeof bound === 'object' && bound ? bound.port : 0
  const check = { type: 'http', path: '/up', scheme: 'HTTP', port } as const
  const times = {
    initialDelaySeconds: 0,
    periodSeconds: 1,
    timeoutSeconds: 60,
    successThreshold: 1,
    failureThreshold: 1,
  }
  const workload: LongRunning = { ...fakeWorkload('x', [port]), probes: { readiness: { check, ...times } } }
  const lines: string[] = []
  let started = 0
  try {
    await pretend(
      (request, response) => {
        if (request.method === 'POST') started++
        const isRunning = status === 'running' || started > 0
        const path = request.url ?? ''
        response.end(path.includes('/json') ? JSON.stringify(container(isRunning ? 'running' : status)) : '')
      },
      (daemon) =>
        test({
          lines,
          asked: first.promise,
          get started() {
            return started
          },
          wait: ({ deadlineInMs, clock = systemClock }) =>
            untilHealthy({
              daemon,
              clock,
              events: new Events({ daemon, clock, instance: 'i', heard: () => {} }),
              service: 's',
              container: 'c1',
              workload,
              deadlineMs: clock.monotonic() + deadlineInMs,
              signal: AbortSignal.timeout(60_000),
              output: { line: (text) => void lines.push(text) },
            }),
        }),
    )
  } finally {
    program.closeAllConnections()
    program.close()
  }
}

const container = (status: string) => ({
  Id: 'c1',
  Name: '/replica-1',
  Created: '2026-01-01T00:00:00Z',
  RestartCount: 0,
  State: { Status: status, ExitCode: 0, OOMKilled: false, Pid: 0, StartedAt: '2026-01-01T00:00:00Z', FinishedAt: '' },
  Config: { Labels: { 'quayside.replica': '1', 'quayside.environment': 'e' } },
  HostConfig: {},
  NetworkSettings: { Networks: { 'quay-env-e': { IPAddress: '127.0.0.1' } } },
})

/** A clock on which every wait takes a thousandth of its time. */
const hurried: Clock = {
  now: systemClock.now,
  monotonic: () => systemClock.monotonic() * 1000,
  sleep: (ms, signal) => systemClock.sleep(ms / 1000, signal),
}

describe('waiting for a replica', () => {
  it('lets the first check finish when the deadline passes meanwhile', () =>
    withReplica('running', async ({ wait, asked, lines }) => {
      const waiting = wait({ deadlineInMs: 1 })
      const answer = await asked
      while (lines.length === 0) await systemClock.sleep(1)
      assert.match(lines[0] ?? '', /^Not ready yet: GET \/up on port \d+ has no response yet$/)
      answer.end()
      assert.equal((await waiting).name, 'replica-1')
    }))

  it('reports the response to that check', () =>
    withReplica('running', async ({ wait, asked }) => {
      const refused = assert.rejects(wait({ deadlineInMs: 0 }), (error: EngineError) => {
        assert.equal(error.reason, 'not-ready')
        return /did not become ready within 30 s: GET \/up on port \d+ was answered with 503/.test(error.message)
      })
      const answer = await asked
      answer.writeHead(503).end()
      await refused
    }))

  it('times out if the first check never ends, and reports so', () =>
    withReplica('running', ({ wait }) =>
      assert.rejects(wait({ deadlineInMs: 0, clock: hurried }), {
        reason: 'not-ready',
        message: /GET \/up on port \d+ has no response yet/,
      }),
    ))

  it('starts a container again that stays stopped after a platform was killed while stopping it', () =>
    withReplica('exited', async (bench) => {
      const waiting = bench.wait({ deadlineInMs: 60_000 })
      const answer = await bench.asked
      answer.end()
      assert.equal((await waiting).running, true)
      assert.equal(bench.started, 1)
      assert.deepEqual(bench.lines, ['Replica 1 was stopped; it is started again'])
    }))
})
