import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAddressGuard } from '../lib/address.ts'
import { Secret } from '../lib/secret.ts'
import { createGit } from './create-git.ts'
import {
  commit,
  git,
  newWorkTree,
  organizationA,
  scratchDirectory,
  startHost,
  withToken,
} from './git-server.fixture.ts'

const never = new AbortController().signal

test('changed paths of two commits are read from a server and the built-in host, and missing commits are reported', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const url = `${server.origin}/git/app.git`
  const push = (...args: string[]) => git(work, 'push', '--quiet', withToken(url, 'token-of-a'), ...args)
  const first = await commit(work, { 'a/x.txt': '1', 'b/ü.txt': '1', 'c.txt': '1' })
  await commit(work, { 'a/x.txt': '2' })
  const last = await commit(work, { 'a/x.txt': '3', 'b/ü.txt': '2' })
  await push('main')
  const directory = await scratchDirectory(t)
  const guard = createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })
  const remote = createGit({ directory, guard })
  const credential = { username: 'any', password: new Secret('token-of-a') }
  const home = createGit({
    directory: join(directory, 'home'),
    guard,
    builtInHost: {
      origins: [server.origin],
      repositoryPath: (name) => server.host.repositoryPath(organizationA, name),
    },
  })
  for (const driver of [remote, home]) {
    const changed = (before: string, after: string) =>
      driver.changedPaths({ url, credential }, { before, after }, never)
    assert.deepEqual(await changed(first, last), ['a/x.txt', 'b/ü.txt'])
    assert.deepEqual(await changed(last, last), [])
    await assert.rejects(changed('0123456789'.repeat(4), last), { name: 'GitError' })
    await assert.rejects(changed('--output=x', last), { name: 'GitError', reason: 'commit' })
  }
})
