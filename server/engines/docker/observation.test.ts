import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toObservation } from './observation.ts'
import { sampleState } from './sample-state.ts'

const now = new Date('2026-01-01T01:00:00Z')
const recently = '2026-01-01T00:59:50.000000000Z'
const observed = (...states: Parameters<typeof sampleState>[0][]) => {
  const { state, reason, release } = {
    reason: undefined,
    release: undefined,
    ...toObservation(states.map(sampleState), now),
  }
  return [state, reason, release]
}

describe('an observation', () => {
  const cases: readonly [string, Parameters<typeof observed>, ReturnType<typeof observed>][] = [
    ['nothing', [], ['absent', undefined, undefined]],
    ['a container that is going', [{ status: 'removing' }], ['absent', undefined, undefined]],
    ['one that runs', [{}], ['running', undefined, 'r1']],
    ['one that has had accidents long ago', [{ exits: 7 }], ['running', undefined, 'r1']],
    ['one that came back just now', [{ exits: 2, startedAt: recently }], ['running', undefined, 'r1']],
    ['one that came back just now, again', [{ exits: 3, startedAt: recently }], ['failing', 'exited 3 times', 'r1']],
    [
      'a first exit',
      [{ status: 'restarting', exits: 1, exitCode: 1 }],
      ['starting', 'exited with code 1, 1 time', 'r1'],
    ],
    [
      'exits again and again',
      [{ status: 'restarting', exits: 4, exitCode: 1 }],
      ['failing', 'exited with code 1, 4 times', 'r1'],
    ],
    [
      'out of memory again and again',
      [{ status: 'restarting', exits: 3, exitCode: 137, outOfMemory: true }],
      ['failing', 'ran out of memory (64 MiB), exited 3 times', 'r1'],
    ],
    [
      'one that was stopped',
      [{ status: 'exited', exits: 1, exitCode: 0 }],
      ['stopped', 'exited with code 0, 1 time', 'r1'],
    ],
    ['one that was paused', [{ status: 'paused' }], ['stopped', 'replica-1 is paused', 'r1']],
    [
      'one that somebody took out of its network',
      [{ address: undefined }],
      ['starting', 'replica-1 is not in the network of its environment', 'r1'],
    ],
    ['one made and not started', [{ status: 'created' }], ['starting', undefined, 'r1']],
    ['one of three', [{ replicas: 3 }], ['starting', '2 of 3 replicas are missing', 'r1']],
    ['the newer of two releases', [{}, { release: 'r2', createdAt: recently }], ['running', undefined, 'r2']],
    [
      'the older release while the newer comes up',
      [{}, { release: 'r2', createdAt: recently, status: 'created' }],
      ['running', undefined, 'r1'],
    ],
  ]
  for (const [name, states, expected] of cases) {
    it(`of ${name} is ${expected[0]}`, () => assert.deepEqual(observed(...states), expected))
  }

  it('does not change to running between two exits', () => {
    for (let exits = 0; exits < 8; exits++) {
      const [down] = observed({ status: 'restarting', exits, exitCode: 1 })
      const [up] = observed({ exits, startedAt: recently })
      assert.equal(up === 'failing', down === 'failing', `${exits} exits`)
    }
  })

  it('reports the image of a replica, and when its program last started and ended, if it ever did', () => {
    const finishedAt = '2026-01-01T00:30:00.000000000Z'
    const states = [
      sampleState({ name: 'ended', status: 'exited', exits: 1, exitCode: 3, finishedAt }),
      sampleState({ name: 'never', status: 'created', startedAt: '0001-01-01T00:00:00Z' }),
    ]
    const observation = toObservation(states, now)
    assert.deepEqual(
      observation.state !== 'absent' &&
        observation.replicas.map(({ image, startedAt, finishedAt }) => [image, startedAt, finishedAt]),
      [
        ['registry.test/app@sha256:1', new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:30:00Z')],
        ['registry.test/app@sha256:1', undefined, undefined],
      ],
    )
  })

  it('lists the replicas of every release with the endpoints of the running ones', () => {
    const observation = toObservation(
      [sampleState(), sampleState({ name: 'old', release: 'r0', status: 'exited', address: undefined })],
      now,
    )
    assert.deepEqual(
      observation.state !== 'absent' && observation.replicas.map(({ name, endpoints }) => [name, endpoints.length]),
      [
        ['old', 0],
        ['replica-1', 1],
      ],
    )
  })
})
