import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { GitProgram } from './git-program.ts'
import { defaultHostLimits } from './host-limits.ts'
import { createPushRoom } from './push-room.ts'

test('a push that ends while another is measured still counts for it', async (t) => {
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
