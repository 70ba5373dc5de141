import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { promisify } from 'node:util'
import { createPlatform } from '../support/platform.ts'

/**
 * Pushes through a proxy. Git records the client in the repository, and nobody else can write into
 * that record.
 */
const trusting = await createPlatform({ after }, { settings: { QUAYSIDE_TRUSTED_PROXIES: '127.0.0.1' } })
const direct = await createPlatform({ after })
const work = await mkdtemp(join(tmpdir(), 'quayside-push-'))
after(() => rm(work, { recursive: true, force: true }))
const git = async (...args: string[]): Promise<string> => {
  const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
  return (await promisify(execFile)('git', ['-C', work, ...identity, ...args])).stdout.trim()
}
await git('init', '--quiet', '--initial-branch=main')

/** Pushes with this `X-Forwarded-For`. Returns the name in the server's reflog. */
async function recordedAfterPush({ a, gitHost, listen }: typeof trusting, forwarded: string): Promise<string> {
  const url = new URL(`${await listen()}/git/app.git`)
  Object.assign(url, { username: 'git', password: a.tokens.ADMIN })
  await git('commit', '--quiet', '--allow-empty', '--message=one')
  await git('push', '--quiet', url.href, 'main:first')
  const path = await gitHost.ensure(a.organizationId, 'app')
  await promisify(execFile)('git', ['-C', path, 'config', 'core.logAllRefUpdates', 'true'])
  await git('-c', `http.extraHeader=X-Forwarded-For: ${forwarded}`, 'push', '--quiet', url.href, 'main')
  const { stdout } = await promisify(execFile)('git', ['-C', path, 'log', '--walk-reflogs', '--format=%ge', 'main'])
  return stdout.trim()
}

test('git records the client of a trusted proxy, not the proxy', async () => {
  assert.match(await recordedAfterPush(trusting, '198.51.100.1, 192.0.2.7'), /@http\.192\.0\.2\.7$/)
})

test('git records an untrusted peer whatever it forwards', async () => {
  assert.match(await recordedAfterPush(direct, '192.0.2.7'), /@http\.127\.0\.0\.1$/)
})
