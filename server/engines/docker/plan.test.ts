import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { newId } from '../../lib/id.ts'
import { newRelease } from '../engine.cases.ts'
import { fakeWorkload } from '../fake/fake-workload.ts'
import { containerName } from './labels.ts'
import { type FoundContainer, plan } from './plan.ts'

const release = newRelease({ ...fakeWorkload('web'), replicas: { min: 2, max: 5 } })
const found = (
  replica: number,
  status: FoundContainer['status'],
  of = release.id,
  isAttached = true,
): FoundContainer => ({
  id: `${status}-${replica}`,
  release: of,
  replica,
  status,
  isAttached,
})

describe('the plan of a start', () => {
  it('creates all replicas if none exists', () => {
    assert.deepEqual(plan([], release), [
      { do: 'create', replica: 1 },
      { do: 'create', replica: 2 },
    ])
  })

  it('adopts running and restarting replicas', () => {
    assert.deepEqual(plan([found(1, 'running'), found(2, 'restarting')], release), [
      { do: 'adopt', replica: 1, container: 'running-1' },
      { do: 'adopt', replica: 2, container: 'restarting-2' },
    ])
  })

  it('starts replicas that never started or have ended', () => {
    assert.deepEqual(plan([found(1, 'created'), found(2, 'exited')], release), [
      { do: 'start', replica: 1, container: 'created-1' },
      { do: 'start', replica: 2, container: 'exited-2' },
    ])
  })

  it('reconnects a running replica to its network, and replaces one that cannot start without it', () => {
    assert.deepEqual(plan([found(1, 'running', release.id, false), found(2, 'exited', release.id, false)], release), [
      { do: 'remove', container: 'exited-2' },
      { do: 'join', replica: 1, container: 'running-1' },
      { do: 'create', replica: 2 },
    ])
  })

  it('replaces dead, half-removed and paused replicas', () => {
    for (const status of ['dead', 'removing', 'paused'] as const) {
      assert.deepEqual(plan([found(1, status), found(2, 'running')], release), [
        { do: 'remove', container: `${status}-1` },
        { do: 'create', replica: 1 },
        { do: 'adopt', replica: 2, container: 'running-2' },
      ])
    }
  })

  it('removes surplus replicas of the release and ignores other releases', () => {
    const operations = plan(
      [found(1, 'running'), found(2, 'running'), found(3, 'running'), found(1, 'exited', newId())],
      release,
    )
    assert.deepEqual(
      operations.map((operation) => operation.do),
      ['remove', 'adopt', 'adopt'],
    )
    assert.deepEqual(operations[0], { do: 'remove', container: 'running-3' })
  })

  it('runs one replica if none is requested', () => {
    assert.equal(plan([], { ...release, workload: { ...release.workload, replicas: { min: 0, max: 0 } } }).length, 1)
  })
})

describe('names', () => {
  it('contain only ids, and differ for releases made in the same minute', () => {
    const next = { ...release, id: newId() }
    assert.match(containerName(release, 1), /^quay-[0-9a-f-]{36}-[0-9a-f]{8}-1$/)
    assert.notEqual(containerName(release, 1), containerName(next, 1))
  })

  it('are rejected for invalid ids', () => {
    for (const service of ['-a', '../x', 'a;id', ''])
      assert.throws(() => containerName({ ...release, service }, 1), { reason: 'refused' })
  })
})
