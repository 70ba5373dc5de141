import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeWorkload } from '../fake/fake-workload.ts'
import { leftMs, readinessProbe, replicaError, verdict } from '../health.ts'
import { pauseMs } from './patience.ts'
import { sampleState } from './sample-state.ts'

describe('the patience of a start', () => {
  it('checks often at first, then after five per cent of the elapsed time, at least once per period', () => {
    assert.deepEqual(
      [0, 300, 1_000, 60_000, 600_000].map((elapsed) => pauseMs(elapsed, 10_000, false)),
      [15, 15, 50, 3_000, 10_000],
    )
    assert.deepEqual(
      [0, 1_000, 9_999, 60_000].map((elapsed) => pauseMs(elapsed, 10_000, true)),
      [15, 25, 100, 100],
    )
  })

  it('uses the rest of the deadline, and gives a late caller a moment', () => {
    const left = (ageMs: number, startDeadlineSeconds = 60) => leftMs({ startDeadlineSeconds }, ageMs)
    assert.deepEqual(
      [left(0), left(20_000), left(59_000), left(3_600_000), left(9_000, 2)],
      [60_000, 40_000, 5_000, 5_000, 2_000],
    )
  })

  it('connects to the first port that is not UDP if no probe is given', () => {
    const port = (internalPort: number, protocol: 'UDP' | 'TCP') => ({ name: 'p', internalPort, protocol })
    const check = (ports: ReturnType<typeof port>[]) => readinessProbe({ ...fakeWorkload('x'), ports })?.check
    assert.deepEqual(check([port(53, 'UDP'), port(9000, 'TCP')]), { type: 'tcp', port: 9000 })
    assert.equal(check([port(53, 'UDP')]), undefined)
  })

  const judge = (changes: Parameters<typeof sampleState>[0], exitsBefore = 0, exitCode?: number) =>
    verdict(sampleState(changes), { exitsBefore, exitCode, memoryMiB: 64 })

  it('fails after the third exit', () => {
    assert.equal(judge({ status: 'restarting', exits: 2, exitCode: 1 }), undefined)
    assert.deepEqual(judge({ status: 'restarting', exits: 3, exitCode: 1 }), {
      reason: 'crashed',
      message: 'exited with code 1 three times',
    })
    assert.equal(judge({ exits: 4 }, 0, 9)?.message, 'exited with code 9 4 times')
    assert.match(judge({ status: 'restarting', exits: 3, exitCode: 127 })?.message ?? '', /check entrypoint/)
  })

  it('ignores earlier exits of a replica that was found running', () => {
    assert.equal(judge({ exits: 5 }, 5), undefined)
    assert.equal(judge({ exits: 6 }, 5)?.reason, 'crashed')
  })

  it('fails at once when memory runs out, except for a child of a program that still runs', () => {
    assert.equal(judge({ status: 'restarting', exits: 1, exitCode: 137, outOfMemory: true })?.reason, 'out-of-memory')
    assert.equal(judge({ outOfMemory: true }), undefined)
    // It was restarted before anybody looked.
    assert.equal(judge({ outOfMemory: true, exits: 1 })?.reason, 'out-of-memory')
    assert.equal(judge({ outOfMemory: true, exits: 4 }, 4), undefined)
  })

  it('reports the last lines separately from the message', () => {
    const error = replicaError('crashed', 'replica 1 exited', ['a', 'b', 'c', 'd'])
    assert.equal(error.message, 'replica 1 exited')
    assert.deepEqual(error.lastLines, ['a', 'b', 'c', 'd'])
    assert.match(replicaError('crashed', 'x', []).message, /printed nothing/)
  })
})
