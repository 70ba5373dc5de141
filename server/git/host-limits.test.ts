import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { until } from '../../test/support/until.ts'
import { systemClock } from '../lib/clock.ts'
import { commit, git, newWorkTree, organizationA, startHost, withToken } from './git-server.fixture.ts'
import type { HostLimits } from './host-limits.ts'
import { createCommandList } from './push-commands.ts'

const mebi = 1024 ** 2

async function bench(t: TestContext, limits: Partial<HostLimits>) {
  const server = await startHost(t, { limits })
  const work = await newWorkTree(t)
  await commit(work, { 'a.txt': 'one' })
  const urlOf = (name: string): string => withToken(`${server.origin}/git/${name}.git`, 'token-of-a')
  const push = (...refs: string[]) => git(work, 'push', '--quiet', urlOf('app'), ...refs)
  return { server, work, urlOf, push }
}

test('a push larger than the repository has room for is rejected and leaves nothing', async (t) => {
  const { server, work, push } = await bench(t, { repositoryBytes: 2 * mebi })
  await push('main')
  await commit(work, { 'large.bin': randomBytes(3 * mebi) })
  await assert.rejects(push('main'), /exceeds maximum allowed size/)
  await git(work, 'reset', '--quiet', '--hard', 'HEAD~1')
  await commit(work, { 'small.txt': 'two' })
  await push('main')
  assert.equal((await server.host.heads(organizationA, 'app', AbortSignal.timeout(10_000))).size, 1)
})

test('a full repository rejects a push with the reason, and branches can be deleted', async (t) => {
  const { work, push } = await bench(t, { repositoryBytes: 2 * mebi, pushBytes: 10 * mebi })
  await commit(work, { 'large.bin': randomBytes(1.8 * mebi) })
  await push('main', 'main:other')
  await commit(work, { 'more.bin': randomBytes(0.1 * mebi) })
  await push('main').catch(() => {})
  await commit(work, { 'more.bin': randomBytes(0.1 * mebi) })
  await assert.rejects(push('main'), /The repository takes 2 MiB, which is the limit|exceeds maximum allowed size/)
  await push(':other')
})

test('a push of an organization that has used up its disk is rejected with the reason', async (t) => {
  const { push, urlOf, work } = await bench(t, { organizationBytes: 4 * 1024 })
  await assert.rejects(push('main'), /The repositories of the organization take 0 MiB, which is the limit/)
  await assert.rejects(git(work, 'push', urlOf('other'), 'main'), /which is the limit/)
})

test('a first push of an organization beyond its limit leaves no repository behind', async (t) => {
  let full = ''
  const server = await startHost(t, { spareOf: async () => ({ bytes: full ? 0 : 9 * mebi, full }) })
  const work = await newWorkTree(t)
  await commit(work, { 'a.txt': 'one' })
  const push = (name: string) => git(work, 'push', withToken(`${server.origin}/git/${name}.git`, 'token-of-a'), 'main')
  full = 'The organization takes more than its limit.'
  await assert.rejects(push('first'), /takes more than its limit/)
  await assert.rejects(readdir(join(server.directory, organizationA)), /ENOENT/)
  full = ''
  await push('second')
  full = 'The organization takes more than its limit.'
  await assert.rejects(push('third'), /takes more than its limit/)
  assert.deepEqual(await readdir(join(server.directory, organizationA)), ['second.git'])
})

test('a first push larger than the limit leaves no repository behind, and the next push makes it', async (t) => {
  const { server, work, push } = await bench(t, { pushBytes: mebi })
  const left = () => readdir(join(server.directory, organizationA)).catch(() => [])
  await commit(work, { 'large.bin': randomBytes(2 * mebi) })
  await assert.rejects(push('main'), /exceeds maximum allowed size/)
  await until('the call has ended', () => server.running() === 0)
  assert.deepEqual(await left(), [])
  await Promise.allSettled([push('main'), push('main'), push('main')])
  await until('the calls have ended', () => server.running() === 0)
  assert.deepEqual(await left(), [])
  await git(work, 'reset', '--quiet', '--hard', 'HEAD~1')
  await push('main')
  assert.deepEqual(await left(), ['app.git'])
})

test('a small first push beside too large ones is kept', async (t) => {
  const { server, work, push, urlOf } = await bench(t, { pushBytes: mebi })
  const large = await newWorkTree(t)
  await commit(large, { 'large.bin': randomBytes(2 * mebi) })
  const tooLarge = () => git(large, 'push', '--quiet', urlOf('app'), 'main:large').catch(() => {})
  for (let round = 0; round < 3; round++) {
    await Promise.all([tooLarge(), push(`main:small-${round}`), tooLarge()])
  }
  await commit(work, { 'b.txt': 'two' })
  await push('main')
  const heads = await server.host.heads(organizationA, 'app', AbortSignal.timeout(10_000))
  assert.deepEqual([...heads.keys()].sort(), ['main', 'small-0', 'small-1', 'small-2'])
})

test('a repository whose branches were all deleted stays', async (t) => {
  const { server, work, push } = await bench(t, { pushBytes: mebi })
  await push('main')
  await push(':main')
  await commit(work, { 'large.bin': randomBytes(2 * mebi) })
  await assert.rejects(push('main'), /exceeds maximum allowed size/)
  await until('the call has ended', () => server.running() === 0)
  assert.deepEqual(await readdir(join(server.directory, organizationA)), ['app.git'])
})

test('concurrent pushes stay within the limit together', async (t) => {
  const { server, urlOf } = await bench(t, { organizationBytes: 4 * mebi })
  const pushed = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map(async (name) => {
      const work = await newWorkTree(t)
      await commit(work, { 'large.bin': randomBytes(2 * mebi) })
      return git(work, 'push', '--quiet', urlOf(name), 'main')
    }),
  )
  assert.ok(pushed.filter(({ status }) => status === 'fulfilled').length <= 1)
  assert.ok(server.running() >= 0)
})

test('the number of repositories of an organization is limited', async (t) => {
  const { work, urlOf, push } = await bench(t, { repositories: 2 })
  await push('main')
  await git(work, 'push', '--quiet', urlOf('second'), 'main')
  await assert.rejects(git(work, 'push', urlOf('third'), 'main'), /has 2 repositories, which is the limit/)
  await push('main:again')
})

test('the references of a repository and the changes of a push are limited', async (t) => {
  const { work, push } = await bench(t, { refs: 3, commandBytes: 2000 })
  await push('main', 'main:b', 'main:c')
  await assert.rejects(push('main:d'), /has 3 references, which is the limit/)
  await push(':c')
  await push('main:d')
  for (let tag = 0; tag < 30; tag++) await git(work, 'tag', `tag-${tag}`)
  await assert.rejects(push('--tags'), /403|hung up|too many/)
})

test('reads the list of changes of a push in any pieces, in linear time', () => {
  const line = (text: string): string => (text.length + 4).toString(16).padStart(4, '0') + text
  const zeros = '0'.repeat(40)
  const list = `${line(`${zeros} ${'a'.repeat(40)} refs/heads/x\0 report-status side-band-64k agent=git`)}${line(`${'b'.repeat(40)} ${zeros} refs/heads/y`)}0000`
  const parse = (text: string) => createCommandList().add(Buffer.from(text))
  for (let end = 0; end < list.length; end++) assert.equal(parse(list.slice(0, end)), undefined)
  const expected = { count: 2, onlyDeletes: false, hasSideBand: true }
  assert.deepEqual(parse(`${list}PACK`), expected)
  const single = createCommandList()
  assert.deepEqual([...list].map((byte) => single.add(Buffer.from(byte))).at(-1), expected)
  assert.throws(() => parse('0003'), /does not use the protocol/)
  assert.throws(() => parse('xxxx'), /does not use the protocol/)
  const slow = createCommandList()
  const started = systemClock.monotonic()
  for (const byte of Buffer.from(line('x'.repeat(65_000)).repeat(16))) slow.add(Buffer.from([byte]))
  assert.ok(systemClock.monotonic() - started < 5_000, 'a byte at a time takes as long as it has bytes')
})
