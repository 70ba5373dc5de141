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
import { chooseTags } from './tags.ts'

const id = (digit: string): string => digit.repeat(40)
const tagOf = async (...names: string[]): Promise<string | undefined> =>
  (await chooseTags(names.map((name) => `${id('a')}\trefs/tags/${name}`).join('\n'))).get(id('a'))

test('of several tags of a commit the highest version counts', async () => {
  assert.equal(await tagOf('v1.9.0', 'v1.10.0', 'v1.2.0'), 'v1.10.0')
  assert.equal(await tagOf('2.0.0-rc.2', '2.0.0-rc.10'), '2.0.0-rc.10')
  assert.equal(await tagOf('2.0.0', '2.0.0-rc.10'), '2.0.0')
  assert.equal(await tagOf('zebra', '1.0'), '1.0')
  assert.equal(await tagOf('build-9', 'build-10'), 'build-10')
  assert.equal(await tagOf(), undefined)
})

test('an annotated tag belongs to its commit, and malformed names are ignored', async () => {
  const output =
    `${id('f')}\trefs/tags/v1\n${id('a')}\trefs/tags/v1^{}\n${id('b')}\trefs/tags/a ` +
    `b\n${id('c')}\trefs/heads/x\nnonsense`
  assert.deepEqual([...(await chooseTags(output))], [[id('a'), 'v1']])
})

test('hundreds of thousands of tags of one commit do not block other work', async () => {
  const lines = Array.from({ length: 200_000 }, (_, n) => `${id('a')}\trefs/tags/v1.0.0-rc${n}`)
  let [turns, isOver] = [0, false]
  const others = (async () => {
    for (; !isOver; turns++) await new Promise((resolve) => setImmediate(resolve))
  })()
  const tags = await chooseTags(lines.join('\n'))
  isOver = true
  await others
  assert.equal(tags.get(id('a')), 'v1.0.0-rc199999')
  assert.ok(turns >= 100, `${turns} turns`)
})

for (const at of ['the built-in host', 'a server'] as const) {
  test(`a checkout and a list of commits have the tags of ${at}`, async (t) => {
    const server = await startHost(t)
    const work = await newWorkTree(t)
    const first = await commit(work, { 'a.txt': 'one' })
    await git(work, 'tag', 'v1.0.0')
    await git(work, 'tag', '--annotate', '--message=x', 'v1.1.0')
    const second = await commit(work, { 'a.txt': 'two' })
    const url = `${server.origin}/git/app.git`
    await git(work, 'push', '--quiet', '--tags', withToken(url, 'token-of-a'), 'main')
    const driver = createGit({
      directory: join(await scratchDirectory(t), 'checkouts'),
      guard: createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] }),
      ...(at === 'a server'
        ? {}
        : {
            builtInHost: {
              origins: [server.origin],
              repositoryPath: (name) => server.host.repositoryPath(organizationA, name),
            },
          }),
    })
    const repository = { url, credential: { username: 'git', password: new Secret('token-of-a') } }
    const { signal } = new AbortController()
    const told = await driver.log(repository, { count: 5 }, signal)
    assert.deepEqual(
      told.map((info) => [info.id, info.tag]),
      [
        [second, ''],
        [first, 'v1.1.0'],
      ],
    )
    await using checkout = await driver.checkout(repository, first, { signal, output: { line: () => {} } })
    assert.equal(checkout.commit.tag, 'v1.1.0')
  })
}
