import assert from 'node:assert/strict'
import { mkdir, readdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
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

const { signal } = new AbortController()

/** A repository with three commits, on a git server or the built-in host. */
async function setScene(t: TestContext, place: 'server' | 'home') {
  const { origin, host } = await startHost(t)
  const directory = await scratchDirectory(t)
  const work = await newWorkTree(t)
  const repositoryPath = (name: string, organization = '') => host.repositoryPath(organization, name)
  const driver = createGit({
    directory,
    guard: createAddressGuard({ allowedPrivateCidrs: place === 'server' ? ['127.0.0.0/8'] : [] }),
    ...(place === 'home' ? { builtInHost: { origins: [origin], repositoryPath } } : {}),
  })
  const url = `${origin}/git/app.git`
  const credential = { username: 'git', password: new Secret('token-of-a') }
  const ids = [
    await commit(work, { 'a.txt': '1', 'dir/b.txt': 'b' }, 'First\n\nwith a body'),
    await commit(work, { 'a.txt': '2' }, 'Second'),
  ]
  await mkdir(join(work, 'dir'), { recursive: true })
  await symlink('a.txt', join(work, 'link'))
  ids.push(await commit(work, { 'a.txt': '3' }, 'Third'))
  await git(work, 'push', '--quiet', withToken(url, 'token-of-a'), 'HEAD:refs/heads/main')
  const repository = place === 'home' ? { url, organization: organizationA } : { url, credential }
  return { driver, repository, ids, scratch: join(directory, 'scratch') }
}

for (const place of ['server', 'home'] as const) {
  test(`${place}: the last commits are listed, newest first`, async (t) => {
    const { driver, repository, ids, scratch } = await setScene(t, place)
    const [first = '', second = '', third = ''] = ids
    const log = await driver.log(repository, { count: 2 }, signal)
    assert.deepEqual(
      log.map(({ id, message }) => [id, message]),
      [
        [third, 'Third'],
        [second, 'Second'],
      ],
    )
    const older = await driver.log(repository, { count: 10, from: second.slice(0, 10).toUpperCase() }, signal)
    assert.deepEqual(
      older.map(({ id, message }) => [id, message]),
      [
        [second, 'Second'],
        [first, 'First\n\nwith a body'],
      ],
    )
    assert.ok(older.every(({ authorName, createdAt }) => authorName !== '' && createdAt.getTime() > 0))
    for (const from of ['--output=/tmp/x', 'HEAD', 'main', '', '0'.repeat(40), 'a..b']) {
      await assert.rejects(driver.log(repository, { count: 1, from }, signal), { reason: 'commit' }, from)
    }
    await assert.rejects(driver.log({ ...repository, branch: '--all' }, { count: 1 }, signal), { reason: 'branch' })
    assert.deepEqual(await readdir(scratch).catch(() => []), [])
  })

  test(`${place}: files of the head can be read, links and paths outside the tree cannot`, async (t) => {
    const { driver, repository, scratch } = await setScene(t, place)
    await driver.look(repository, signal, async (tree) => {
      assert.deepEqual([...tree.files].sort(), ['a.txt', 'dir/b.txt'])
      assert.equal((await tree.readFile('a.txt'))?.toString(), '3')
      assert.equal((await tree.readFile('dir/b.txt'))?.toString(), 'b')
      assert.equal(await tree.readFile('absent'), undefined)
      for (const path of ['link', '../a.txt', '/etc/passwd', '--help', '.git/config']) {
        await assert.rejects(tree.readFile(path), { reason: 'path' }, path)
      }
    })
    assert.deepEqual(await readdir(scratch).catch(() => []), [])
  })
}
