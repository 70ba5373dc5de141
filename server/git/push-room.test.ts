import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { GitProgram } from './git-program.ts'
import { defaultHostLimits } from './host-limits.ts'
import { createPushRoom } from './push-room.ts'

test('a push that ends during the measurement of another one still counts for it', async (t) => {
  const organization = await mkdtemp(join(tmpdir(), 'quayside-room-'))
  t.after(() => rm(organization, { recursive: true }))
  const path = join(organization, 'one.git')
  await mkdir(path)
  // References are counted while the disk is measured.
  const counting = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  const run: GitProgram['run'] = async () => {
    await counting[asked++]?.promise
    return { stdout: Buffer.alloc(0), stderr: '', exitCode: 0 } as unknown as Awaited<ReturnType<GitProgram['run']>>
  }
  const MiB = 1024 ** 2
  const limits = { ...defaultHostLimits, repositoryBytes: 9 * MiB, organizationBytes: 9 * MiB, pushBytes: 8 * MiB }
  const room = createPushRoom({ run } as unknown as GitProgram, limits)
  const signal = AbortSignal.timeout(20_000)
  counting[0]?.resolve()
  const first = await room.reserve(path, signal)
  const later = room.reserve(path, signal)
  first[Symbol.dispose]()
  counting[1]?.resolve()
  using second = await later
  assert.equal(first.bytes, 8 * MiB)
  assert.ok(second.bytes <= MiB, `${second.bytes}`)
})

test('concurrent pushes together stay within the disk limit of the organization', async (t) => {
  const organization = await mkdtemp(join(tmpdir(), 'quayside-room-'))
  t.after(() => rm(organization, { recursive: true }))
  const path = join(organization, 'one.git')
  await mkdir(path)
  const run: GitProgram['run'] = async () =>
    ({ stdout: Buffer.alloc(0), stderr: '', exitCode: 0 }) as unknown as Awaited<ReturnType<GitProgram['run']>>
  const MiB = 1024 ** 2
  const asked: string[] = []
  const room = createPushRoom({ run } as unknown as GitProgram, defaultHostLimits, async (name) => {
    asked.push(name)
    return asked.length > 2 ? { bytes: 0, full: 'it is full' } : { bytes: 9 * MiB, full: '' }
  })
  const signal = AbortSignal.timeout(20_000)
  using first = await room.reserve(path, signal)
  using second = await room.reserve(path, signal)
  using third = await room.reserve(path, signal)
  assert.equal(first.bytes, 9 * MiB)
  assert.equal(second.bytes, 1, 'git takes 0 for no limit')
  assert.deepEqual([third.bytes, third.full], [0, 'it is full'])
  assert.ok(asked.every((name) => organization.endsWith(name)))
})
