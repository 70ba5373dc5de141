import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { silentLogger } from '../lib/log.ts'
import { Secret } from '../lib/secret.ts'
import { createLineFollower } from './line-follower.ts'

const wish = {
  id: 'service',
  organization_id: 'organization',
  engine: 'local',
  release_id: 'new',
  replicas: 1,
  is_task: false,
  may_scale: false,
  busy: false,
  stop_reason: null,
}

/** A follower that records what is collected. `open` opens the releases. */
function follow(open: (release: string) => Promise<readonly Secret[]>) {
  const collected: string[] = []
  const warned: unknown[] = []
  const follower = createLineFollower({
    log: { ...silentLogger, warn: (about: unknown) => void warned.push(about) } as typeof silentLogger,
    lines: { tail: async () => [] },
    releases: {
      secretsOf: (_, id) => open(id),
    },
    collector: {
      isCollected: (service) => service === 'followed',
      collect: (_, release, secrets) => void collected.push(`${release} ${secrets.length}`),
    },
  })
  return { follower, collected, warned }
}

test('line follower collects lines once the secrets of all running releases are known', async () => {
  const opening = Promise.withResolvers<readonly Secret[]>()
  const { follower, collected } = follow((id) => (id === 'new' ? opening.promise : Promise.resolve([])))
  follower.collect(wish, ['old', 'new'])
  assert.deepEqual(collected, [])
  opening.resolve([new Secret('hidden')])
  await until('both are collected', () => collected.length === 2)
  assert.deepEqual(collected, ['old 0', 'new 1'])
})

test('line follower ignores a service that is followed already, and one that should not run', async () => {
  let opened = 0
  const { follower } = follow(async () => {
    opened += 1
    return []
  })
  follower.collect({ ...wish, id: 'followed' }, ['new'])
  follower.collect({ ...wish, release_id: null }, ['old'])
  assert.equal(opened, 0)
})

test('line follower logs a release that it cannot open, and collects no line', async () => {
  const { follower, collected, warned } = follow(() => Promise.reject(new Error('sealed')))
  follower.collect(wish, ['new'])
  await until('it is logged', () => warned.length === 1)
  assert.deepEqual(collected, [])
})

test('line follower opens a release once when it looks again meanwhile, and another one at once', async () => {
  const opening = Promise.withResolvers<readonly Secret[]>()
  const opened: string[] = []
  const { follower, collected } = follow((id) => {
    opened.push(id)
    return opening.promise
  })
  for (let look = 0; look < 3; look++) follower.collect(wish, ['new'])
  assert.deepEqual(opened, ['new'])
  follower.collect({ ...wish, release_id: 'newer' }, ['new'])
  assert.deepEqual(opened, ['new', 'new', 'newer'])
  opening.resolve([])
  await until('all are collected', () => collected.length === 3)
})

test('line follower opens a release again after a failure', async () => {
  let opened = 0
  const { follower, collected, warned } = follow(() => {
    opened += 1
    return opened === 1 ? Promise.reject(new Error('sealed')) : Promise.resolve([])
  })
  follower.collect(wish, ['new'])
  await until('it is logged', () => warned.length === 1)
  await until('it is opened again', () => {
    follower.collect(wish, ['new'])
    return opened > 1
  })
  await until('it is collected', () => collected.length > 0)
})
