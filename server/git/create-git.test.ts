import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { extract } from 'tar-stream'
import { until } from '../../test/support/until.ts'
import { createAddressGuard } from '../lib/address.ts'
import type { Attempt } from '../lib/attempt.ts'
import { killGroup, start } from '../lib/run.ts'
import { Secret } from '../lib/secret.ts'
import { createGit, type GitDriver } from './create-git.ts'
import type { Checkout } from './git.ts'
import {
  commit,
  git,
  type HostServer,
  newWorkTree,
  organizationA,
  organizationB,
  scratchDirectory,
  startHost,
  withToken,
} from './git-server.fixture.ts'
import type { GitLimits } from './limits.ts'
import type { OwnedRepository } from './locate.ts'

const { signal } = new AbortController()

interface Scene {
  readonly server: HostServer
  readonly driver: GitDriver
  readonly directory: string
  readonly work: string
  readonly repository: OwnedRepository
  readonly lines: string[]
  readonly attempt: Attempt
  /** Commits the files, pushes them to the branch and returns the commit's id. */
  push(files: Record<string, string | Buffer>, branch?: string, message?: string): Promise<string>
}

type Place = 'server' | 'home'

async function setScene(t: TestContext, place: Place, limits: Partial<GitLimits> = {}): Promise<Scene> {
  const server = await startHost(t)
  const directory = await scratchDirectory(t)
  const work = await newWorkTree(t)
  const { origin, host } = server
  const builtInHost = {
    origins: [origin],
    repositoryPath: (name: string, organization = '') => host.repositoryPath(organization, name),
  }
  const guard = createAddressGuard({ allowedPrivateCidrs: place === 'server' ? ['127.0.0.0/8'] : [] })
  const driver = createGit({ directory, guard, limits, ...(place === 'home' ? { builtInHost } : {}) })
  const url = `${origin}/git/app.git`
  const lines: string[] = []
  const owner =
    place === 'home'
      ? { organization: organizationA }
      : { credential: { username: 'git', password: new Secret('token-of-a') } }
  return {
    server,
    driver,
    directory,
    work,
    repository: { url, ...owner },
    lines,
    attempt: { signal, output: { line: (text, level = 'info') => void lines.push(`${level}: ${text}`) } },
    async push(files, branch = 'main', message = 'Change') {
      const id = await commit(work, files, message)
      await git(work, 'push', '--quiet', '--force', withToken(url, 'token-of-a'), `HEAD:refs/heads/${branch}`)
      return id
    },
  }
}

/** Returns the names in a tar stream, with the content of files and the target of links. */
async function unpack(checkout: Checkout, path: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const tar = (await checkout.archive(path, signal)).pipe(extract())
  for await (const entry of tar) {
    let content = ''
    for await (const chunk of entry) content += chunk
    found[entry.header.name] = entry.header.type === 'symlink' ? `-> ${entry.header.linkname}` : content
  }
  return found
}

const places: readonly Place[] = ['server', 'home']

for (const place of places) {
  test(`${place}: the head is that of the branch, or of main, master or the default branch`, async (t) => {
    const { driver, repository, push } = await setScene(t, place)
    const release = await push({ a: '1' }, 'release/1.x')
    assert.deepEqual(await driver.resolveHead(repository, signal), { branch: 'release/1.x', commit: release })
    const master = await push({ a: '2' }, 'master')
    assert.deepEqual(await driver.resolveHead(repository, signal), { branch: 'master', commit: master })
    const main = await push({ a: '3' }, 'main')
    const other = await push({ a: '4' }, 'x/main')
    assert.deepEqual(await driver.resolveHead(repository, signal), { branch: 'main', commit: main })
    const named = { ...repository, branch: 'x/main' }
    assert.deepEqual(await driver.resolveHead(named, signal), { branch: 'x/main', commit: other })
    for (const branch of ['absent', '1.x', 'x', 'HEAD']) {
      await assert.rejects(driver.resolveHead({ ...repository, branch }, signal), { reason: 'branch' }, branch)
    }
  })

  test(`${place}: an empty repository has no head`, async (t) => {
    const { driver, repository, server } = await setScene(t, place)
    await server.host.ensure(organizationA, 'app')
    await assert.rejects(driver.resolveHead(repository, signal), { reason: 'branch', message: /Push a commit/ })
  })

  test(`${place}: a repository that does not exist is denied`, async (t) => {
    const { driver, repository } = await setScene(t, place)
    await assert.rejects(driver.resolveHead(repository, signal), { name: 'GitError', reason: 'denied' })
  })

  test(`${place}: commits are expanded, and must be on the branch`, async (t) => {
    const { driver, repository, push, work } = await setScene(t, place)
    const first = await push({ a: '1' })
    const second = await push({ a: '2' })
    await git(work, 'checkout', '--quiet', '-b', 'fork', first)
    const fork = await push({ a: '3' }, 'fork')
    const onMain = { ...repository, branch: 'main' }
    assert.equal(await driver.resolveCommit(onMain, second, signal), second)
    assert.equal(await driver.resolveCommit(onMain, first, signal), first)
    assert.equal(await driver.resolveCommit(repository, first.slice(0, 7).toUpperCase(), signal), first)
    assert.equal(await driver.resolveCommit({ ...repository, branch: 'fork' }, fork.slice(0, 12), signal), fork)
    const tree = await git(work, 'rev-parse', `${first}^{tree}`)
    for (const id of [fork, fork.slice(0, 10), tree, '0123456789', '0'.repeat(40), 'f'.repeat(64)]) {
      await assert.rejects(driver.resolveCommit(onMain, id, signal), { reason: 'commit' }, id)
    }
    for (const id of [
      '',
      'HEAD',
      'HEAD~1',
      'main',
      '--output=x',
      '123456',
      'g'.repeat(40),
      'a'.repeat(65),
      `${first}\n`,
    ]) {
      await assert.rejects(driver.resolveCommit(onMain, id, signal), { reason: 'commit' }, id)
    }
  })

  test(`${place}: a branch named like an abbreviated commit is not that commit`, async (t) => {
    const { driver, repository, push } = await setScene(t, place)
    const first = await push({ a: '1' })
    await push({ a: '2' })
    await push({ a: '3' }, first.slice(0, 8))
    assert.equal(await driver.resolveCommit({ ...repository, branch: 'main' }, first.slice(0, 8), signal), first)
  })

  test(`${place}: lists the directories directly under a path`, async (t) => {
    const { driver, repository, push, work } = await setScene(t, place)
    await symlink('b', join(work, 'link'))
    await push({ 'b/x/1': '', 'b/ü/1': '', 'b/file': '', 'a/1': '', top: '', 'bb/1': '' })
    assert.deepEqual(await driver.listDirectories(repository, '', signal), ['a', 'b', 'bb'])
    assert.deepEqual(await driver.listDirectories(repository, '/', signal), ['a', 'b', 'bb'])
    assert.deepEqual(await driver.listDirectories(repository, './b/', signal), ['x', 'ü'])
    assert.deepEqual(await driver.listDirectories(repository, 'b/ü', signal), [])
    for (const path of ['absent', 'b/file', 'link', '*', 'b/?']) {
      await assert.rejects(
        driver.listDirectories(repository, path, signal),
        { reason: 'path', message: /no directory/ },
        path,
      )
    }
    for (const path of [
      '..',
      '../..',
      '/etc',
      'a/../../b',
      '%2e%2e',
      'a\\b',
      'a\0',
      'a'.repeat(5000),
      '-r',
      'a/-r',
      '.git',
      'x/.GIT',
    ]) {
      await assert.rejects(
        driver.listDirectories(repository, path, signal),
        { reason: 'path', message: /relative/ },
        path,
      )
    }
  })

  test(`${place}: a checkout returns the commit, files and archives, and leaves nothing behind`, async (t) => {
    const { driver, repository, push, attempt, directory, work } = await setScene(t, place)
    await push({ 'old.txt': 'old' })
    await mkdir(join(work, 'api'))
    await symlink('src/main.js', join(work, 'api/entry'))
    const attributes = 'Dockerfile export-ignore\n*.txt text eol=crlf\nid.js ident export-subst\n'
    const files = {
      'api/Dockerfile': 'FROM x',
      'api/src/main.js': 'run()',
      'api/notes.txt': 'a\nb\n',
      'api/id.js': '$Id$ $Format:%H$',
    }
    const id = await push(
      { ...files, '.gitattributes': attributes, 'other/x': '' },
      'main',
      'Add the API\n\nWith \u001b[31mred\u001b[0m text',
    )
    await using checkout = await driver.checkout(repository, id, attempt)
    assert.equal(checkout.commit.id, id)
    assert.equal(checkout.commit.authorName, 'Tester')
    assert.equal(checkout.commit.message, 'Add the API\n\nWith [31mred[0m text')
    assert.equal(
      checkout.commit.createdAt.toISOString(),
      new Date(await git(work, 'log', '-1', '--format=%cI')).toISOString(),
    )
    assert.equal((await checkout.readFile('api/Dockerfile', signal))?.toString(), 'FROM x')
    assert.equal(await checkout.readFile('api/absent', signal), undefined)
    assert.equal(await checkout.readFile('api', signal), undefined)
    assert.deepEqual(await unpack(checkout, 'api'), {
      Dockerfile: 'FROM x',
      entry: '-> src/main.js',
      'id.js': '$Id$ $Format:%H$',
      'notes.txt': 'a\nb\n',
      'src/': '',
      'src/main.js': 'run()',
    })
    const everything = Object.keys(await unpack(checkout, ''))
    assert.ok(everything.includes('api/Dockerfile'))
    assert.deepEqual(
      everything.filter((path) => /(^|\/)\.git(\/|$)/.test(path)),
      [],
      'git’s own are no part of it',
    )
    await assert.rejects(checkout.archive('absent', signal), { reason: 'path' })
    await assert.rejects(checkout.archive('api/Dockerfile', signal), { reason: 'path' })
    await assert.rejects(checkout.archive('../x', signal), { reason: 'path' })
    await checkout[Symbol.asyncDispose]()
    assert.deepEqual(await readdir(join(directory, 'scratch')), [])
  })

  test(`${place}: links out of the tree and links on a path are rejected`, async (t) => {
    const { driver, repository, push, attempt, work } = await setScene(t, place)
    const links: Record<string, string> = {
      'absolute/l': '/etc/passwd',
      'up/l': '../../x',
      'chain/a': 'b/../../x',
      'chain/b': 'deep/deeper',
      'in/l': '../ok/file',
      'good/l': 'd/../file',
      'loop/a': 'b',
      'loop/b': 'a',
      'app/Dockerfile': 'real',
      linked: 'ok',
      'ign/.dockerignore': 'real',
      'hidden/a': 'sub/up/x',
      'hidden/sub/up': '..',
    }
    for (const [path, target] of Object.entries(links)) {
      await mkdir(join(work, path, '..'), { recursive: true })
      await symlink(target, join(work, path))
    }
    const id = await push({
      'ok/file': '',
      'good/file': '',
      'good/d/f': '',
      'app/real': '',
      'ign/real': '',
      'chain/deep/deeper/f': '',
    })
    await using checkout = await driver.checkout(repository, id, attempt)
    for (const path of ['absolute', 'up', 'in', 'linked', 'ign', '']) {
      await assert.rejects(checkout.archive(path, signal), { reason: 'path' }, path)
    }
    for (const path of ['good', 'loop', 'hidden', 'chain', 'app']) await unpack(checkout, path)
    await assert.rejects(checkout.readFile('app/Dockerfile', signal), { reason: 'path', message: /symbolic link/ })
    await assert.rejects(checkout.readFile('linked/file', signal), { reason: 'path', message: /symbolic link/ })
    assert.equal((await checkout.readFile('ok/file', signal))?.length, 0)
  })

  test(`${place}: submodules stay empty and are named in the log`, async (t) => {
    const { driver, repository, attempt, work, lines } = await setScene(t, place)
    const base = await commit(work, { a: '1' })
    await writeFile(
      join(work, '.gitmodules'),
      '[submodule "sub"]\n\tpath = sub\n\turl = ext::sh -c "touch /tmp/never"\n',
    )
    await git(work, 'add', '.gitmodules')
    await git(work, 'update-index', '--add', '--cacheinfo', `160000,${base},sub`)
    await git(work, 'commit', '--quiet', '--message', 'sub')
    await mkdir(join(work, 'sub'))
    await git(work, 'push', '--quiet', withToken(repository.url, 'token-of-a'), 'HEAD:refs/heads/main')
    const { commit: id } = await driver.resolveHead(repository, signal)
    await using checkout = await driver.checkout(repository, id, attempt)
    assert.ok(lines.some((line) => line.startsWith('warning: Submodule "sub"')))
    assert.deepEqual(Object.keys(await unpack(checkout, '')).sort(), ['.gitmodules', 'a', 'sub/'])
  })

  test(`${place}: a file, tree or archive beyond the limit is not read`, async (t) => {
    const scene = await setScene(t, place, { maxFileBytes: 10, maxEntries: 3, maxArchiveBytes: 20_000 })
    const { driver, repository, push, attempt } = scene
    const small = await push({ ten: '0123456789', eleven: '0123456789x', large: 'a'.repeat(30_000) })
    {
      await using checkout = await driver.checkout(repository, small, attempt)
      assert.equal((await checkout.readFile('ten', signal))?.length, 10)
      await assert.rejects(checkout.readFile('eleven', signal), { reason: 'limits' })
      const tar = await checkout.archive('', signal)
      await assert.rejects(tar.resume().toArray(), { reason: 'limits' })
    }
    const many = await push({ 'd/fourth': '' })
    await assert.rejects(driver.checkout(repository, many, attempt), { reason: 'limits' })
    assert.deepEqual(await readdir(join(scene.directory, 'scratch')), [])
  })

  test(`${place}: a missing commit is rejected`, async (t) => {
    const { driver, repository, push, attempt, work } = await setScene(t, place)
    await push({ a: '1' })
    const tree = await git(work, 'rev-parse', 'HEAD^{tree}')
    const short = (await git(work, 'rev-parse', 'HEAD')).slice(0, 10)
    for (const id of ['1'.repeat(40), tree, short, '--help']) {
      await assert.rejects(driver.checkout(repository, id, attempt), { reason: 'commit' }, id)
    }
  })

  test(`${place}: an abort ends the work with the caller's reason`, async (t) => {
    const { driver, repository, push } = await setScene(t, place)
    const id = await push({ a: '1' })
    const stopped = AbortSignal.abort(new Error('cancelled by the user'))
    await assert.rejects(
      driver.checkout(repository, id, { signal: stopped, output: { line() {} } }),
      /cancelled by the user/,
    )
    await assert.rejects(driver.resolveHead(repository, stopped), /cancelled by the user/)
  })
}

test('home: an organization reads only its own repositories', async (t) => {
  const { driver, repository, push } = await setScene(t, 'home')
  await push({ a: '1' })
  await assert.rejects(driver.resolveHead({ ...repository, organization: organizationB }, signal), { reason: 'denied' })
  await assert.rejects(driver.resolveHead({ url: repository.url }, signal), { reason: 'denied' })
})

test('home: a pushed replacement does not change a commit', async (t) => {
  const { driver, repository, push, attempt, work } = await setScene(t, 'home')
  const good = await push({ a: 'good' })
  const evil = await push({ a: 'evil' }, 'other')
  await git(work, 'push', '--quiet', withToken(repository.url, 'token-of-a'), `${evil}:refs/replace/${good}`)
  await using checkout = await driver.checkout(repository, good, attempt)
  assert.equal((await checkout.readFile('a', signal))?.toString(), 'good')
  assert.equal((await unpack(checkout, ''))['a'], 'good')
})

test('removes the files of a killed process before its first use', async (t) => {
  const { driver, repository, push, directory } = await setScene(t, 'server')
  await push({ a: '1' })
  await mkdir(join(directory, 'scratch/left-behind/objects'), { recursive: true })
  await driver.resolveHead(repository, signal)
  assert.deepEqual(await readdir(join(directory, 'scratch')), [])
})

test('an open commit is not fetched again, and stays until its last user closes it', async (t) => {
  const { driver, repository, push, attempt, server, directory } = await setScene(t, 'server')
  const id = await push({ a: '1' })
  const first = await driver.checkout(repository, id, attempt)
  const calls = server.requests.length
  const second = await driver.checkout(repository, id, attempt)
  assert.equal(server.requests.length, calls)
  await first[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
  assert.equal((await second.readFile('a', signal))?.toString(), '1')
  const { credential, ...stranger } = repository
  await assert.rejects(driver.checkout(stranger, id, attempt), { reason: 'denied' })
  await second[Symbol.asyncDispose]()
  assert.deepEqual(await readdir(join(directory, 'scratch')), [])
})

test('sweeping keeps open checkouts', async (t) => {
  const { driver, repository, push, attempt } = await setScene(t, 'server')
  const id = await push({ a: '1' })
  await using checkout = await driver.checkout(repository, id, attempt)
  await driver.sweep()
  assert.equal((await checkout.readFile('a', signal))?.toString(), '1')
})

test('ends the programs of a killed process before its first use, and no others', async (t) => {
  const { driver, repository, push, directory } = await setScene(t, 'server')
  await push({ a: '1' })
  const beginWaiting = async (home: string) => {
    const child = start('sleep', ['600'], { env: { HOME: home }, stdio: 'ignore' })
    t.after(() => killGroup(child))
    await once(child, 'spawn')
    return child
  }
  const left = await beginWaiting(join(directory, 'home'))
  const other = await beginWaiting(join(directory, 'home-of-another'))
  await driver.resolveHead(repository, signal)
  await until('the program was killed', () => left.signalCode === 'SIGKILL')
  assert.equal(other.signalCode, null)
})
