import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { until } from '../../test/support/until.ts'
import { parseGitPath } from './git-path.ts'
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
import { createHostedList } from './hosted-list.ts'

const urlOf = (server: HostServer, name: string, token: string): string =>
  withToken(`${server.origin}/git/${name}.git`, token)

test('a push creates the repository and a clone returns it', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const id = await commit(work, { 'a.txt': 'one', 'large.bin': randomBytes(3 * 1024 ** 2) })
  await git(work, 'push', '--quiet', urlOf(server, 'app', 'token-of-a'), 'main')
  const copy = await scratchDirectory(t)
  await git(copy, 'clone', '--quiet', urlOf(server, 'app', 'token-of-a'), '.')
  assert.equal(await git(copy, 'rev-parse', 'HEAD'), id)
  assert.equal(await readFile(join(copy, 'a.txt'), 'utf8'), 'one')
})

test('lists the repositories of one organization by name', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  await commit(work, { 'a.txt': 'one' })
  for (const name of ['web', 'app']) await git(work, 'push', '--quiet', urlOf(server, name, 'token-of-a'), 'main')
  await git(work, 'push', '--quiet', urlOf(server, 'secret', 'token-of-b'), 'main')
  const list = createHostedList(server.host, 'https://quayside.test')
  assert.deepEqual(await list(organizationA), [
    { name: 'app', url: 'https://quayside.test/git/app.git' },
    { name: 'web', url: 'https://quayside.test/git/web.git' },
  ])
  assert.deepEqual(await list('../b'), [])
})

test('fetches a shallow clone, a partial clone and one commit by its id', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const first = await commit(work, { 'a.txt': 'one' })
  await commit(work, { 'a.txt': 'two' })
  const url = urlOf(server, 'app', 'token-of-a')
  await git(work, 'push', '--quiet', url, 'main')
  const shallow = await scratchDirectory(t)
  await git(shallow, 'clone', '--quiet', '--depth=1', url, '.')
  assert.equal(await git(shallow, 'rev-list', '--count', 'HEAD'), '1')
  const partial = await scratchDirectory(t)
  await git(partial, 'clone', '--quiet', '--bare', '--filter=tree:0', url, '.')
  assert.match(await git(partial, 'rev-list', '--objects', '--missing=print', '--all'), /^\?/m)
  await git(shallow, 'fetch', '--quiet', '--depth=1', url, first)
  assert.equal(await git(shallow, 'rev-parse', 'FETCH_HEAD'), first)
})

test('rejects unknown tokens, and pushes with tokens that may only read', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  await commit(work, { 'a.txt': 'one' })
  await git(work, 'push', '--quiet', urlOf(server, 'app', 'token-of-a'), 'main')
  await assert.rejects(git(work, 'ls-remote', urlOf(server, 'app', 'wrong')), /Authentication failed/)
  await assert.rejects(git(work, 'push', urlOf(server, 'app', 'reader-of-a'), 'main:other'), /403/)
  assert.match(await git(work, 'ls-remote', urlOf(server, 'app', 'reader-of-a')), /refs\/heads\/main/)
})

test('two organizations have different repositories of the same name', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const ofA = await commit(work, { 'secret.txt': 'of a' })
  await git(work, 'push', '--quiet', urlOf(server, 'app', 'token-of-a'), 'main')
  await assert.rejects(git(work, 'ls-remote', urlOf(server, 'app', 'token-of-b')), /not found/)
  const other = await newWorkTree(t)
  const ofB = await commit(other, { 'b.txt': 'of b' })
  await git(other, 'push', '--quiet', urlOf(server, 'app', 'token-of-b'), 'main')
  assert.equal((await git(work, 'ls-remote', urlOf(server, 'app', 'token-of-a'), 'main')).slice(0, 40), ofA)
  assert.equal((await git(work, 'ls-remote', urlOf(server, 'app', 'token-of-b'), 'main')).slice(0, 40), ofB)
  await assert.rejects(git(other, 'fetch', '--depth=1', urlOf(server, 'app', 'token-of-b'), ofA), /not our ref/)
})

test('HEAD follows a first push of master, and the next clone sees it', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const id = await commit(work, { 'a.txt': 'one' })
  await git(work, 'push', '--quiet', urlOf(server, 'app', 'token-of-a'), 'main:master')
  assert.match(
    await git(work, 'ls-remote', '--symref', urlOf(server, 'app', 'token-of-a'), 'HEAD'),
    /refs\/heads\/master/,
  )
  await git(work, 'push', '--quiet', urlOf(server, 'app', 'token-of-a'), 'main:main')
  assert.match(
    await git(work, 'ls-remote', '--symref', urlOf(server, 'app', 'token-of-a'), 'HEAD'),
    /refs\/heads\/master/,
  )
  assert.match(await git(work, 'ls-remote', urlOf(server, 'app', 'token-of-a'), 'refs/heads/main'), new RegExp(id))
})

test('rejects pushes of objects that git considers unsafe', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  await commit(work, { 'a.txt': 'one' })
  const blob = await git(work, 'hash-object', '-w', 'a.txt')
  await writeFile(join(work, 'tree.raw'), Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]))
  const tree = await git(work, 'hash-object', '-w', '-t', 'tree', '--literally', 'tree.raw')
  const bad = await git(work, 'commit-tree', tree, '-m', 'bad')
  await assert.rejects(git(work, 'push', urlOf(server, 'app', 'token-of-a'), `${bad}:refs/heads/bad`), /hasDotgit/)
})

async function raw(
  server: HostServer,
  call: { method: string; path: string; headers?: Record<string, string>; body?: Buffer },
): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>()
  const authorization = `Basic ${Buffer.from('git:token-of-a').toString('base64')}`
  const sent = request(`${server.origin}${call.path}`, {
    method: call.method,
    headers: { authorization, ...call.headers },
  })
  sent.on('error', reject).on('response', (response) => {
    let body = ''
    response.on('data', (chunk) => {
      body += chunk
    })
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
  })
  sent.end(call.body)
  return promise
}

test('accepts compressed and chunked requests of protocol version 2', async (t) => {
  const server = await startHost(t)
  await server.host.ensure(organizationA, 'app')
  const question = Buffer.from('0014command=ls-refs\n0000')
  const headers = { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' }
  const path = '/git/app.git/git-upload-pack'
  const plain = await raw(server, { method: 'POST', path, headers, body: question })
  assert.deepEqual(plain, { status: 200, body: '0000' })
  const zipped = gzipSync(question)
  const compressed = { ...headers, 'content-encoding': 'gzip' }
  assert.deepEqual(await raw(server, { method: 'POST', path, headers: compressed, body: zipped }), plain)
  const chunked = { ...compressed, 'transfer-encoding': 'chunked' }
  assert.deepEqual(await raw(server, { method: 'POST', path, headers: chunked, body: zipped }), plain)
})

test('serves no files, no other services and no other methods', async (t) => {
  const server = await startHost(t)
  await server.host.ensure(organizationA, 'app')
  for (const [method, path, status] of [
    ['GET', '/git/app.git/info/refs', 403],
    ['GET', '/git/app.git/info/refs?service=git-upload-archive', 403],
    ['GET', '/git/app.git/info/refs?service=git-upload-pack&service=git-receive-pack', 403],
    ['POST', '/git/app.git/info/refs?service=git-upload-pack', 403],
    ['GET', '/git/app.git/git-upload-pack', 403],
    ['GET', '/git/app.git/HEAD', 404],
    ['GET', '/git/app.git/config', 404],
    ['GET', '/git/app.git/objects/info/packs', 404],
    ['GET', '/git/..%2f..%2fetc.git/info/refs?service=git-upload-pack', 404],
    ['GET', '/git/other.git/info/refs?service=git-upload-pack', 404],
  ] as const) {
    assert.equal((await raw(server, { method, path })).status, status, `${method} ${path}`)
  }
})

test('kills the git process of a client that leaves', async (t) => {
  const server = await startHost(t)
  await server.host.ensure(organizationA, 'app')
  const sent = request(`${server.origin}/git/app.git/git-receive-pack`, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from('git:token-of-a').toString('base64')}`,
      'content-type': 'application/x-git-receive-pack-request',
      'transfer-encoding': 'chunked',
    },
  })
  sent.on('error', () => {})
  sent.write('00')
  await until('the call runs', () => server.running() === 1)
  sent.destroy()
  await until('no call runs', () => server.running() === 0)
})

test('parses only paths of the smart protocol', () => {
  const path = parseGitPath('/git/my-app.v2.git/git-receive-pack')
  assert.equal(path?.repository, 'my-app.v2')
  assert.equal(path?.needsWrite('POST', ''), true)
  assert.equal(path?.needsWrite('GET', ''), undefined)
  const info = parseGitPath('/git/app.git/info/refs')
  assert.equal(info?.needsWrite('GET', 'service=git-upload-pack'), false)
  assert.equal(info?.needsWrite('GET', 'service=git-receive-pack'), true)
  assert.equal(info?.needsWrite('GET', 'service=git-evil'), undefined)
  for (const bad of [
    '/git/app/info/refs',
    '/git/.git/info/refs',
    '/git/a/b.git/info/refs',
    '/git/../x.git/info/refs',
    '/git/App.git/info/refs',
    '/git/app.git/',
    '/git/app.git',
    '/git/app.git/info/refs/',
    '/git/app.git//info/refs',
    '/git/-x.git/info/refs',
    '/git/a..b.git/info/refs',
    '/git/x.lock.git/info/refs',
    '/git/x%00.git/info/refs',
    '/x/app.git/info/refs',
  ]) {
    assert.equal(parseGitPath(bad), undefined, bad)
  }
})

test('creates a repository once for concurrent callers, and none for invalid names', async (t) => {
  const { host, directory } = await startHost(t)
  const paths = await Promise.all(Array.from({ length: 10 }, () => host.ensure(organizationA, 'app')))
  assert.equal(new Set(paths).size, 1)
  assert.deepEqual(await readdir(join(directory, organizationA)), ['app.git'])
  for (const name of ['../x', 'a/b', '', '.', '-a', 'A', 'x.lock', 'x.git', 'a..b', 'a'.repeat(101)]) {
    assert.equal(host.repositoryPath(organizationA, name), undefined, name)
    await assert.rejects(host.ensure(organizationA, name), /not the name of a repository/)
  }
  assert.equal(host.repositoryPath('../../etc', 'app'), undefined)
  assert.notEqual(host.repositoryPath(organizationB, 'app'), host.repositoryPath(organizationA, 'app'))
})

test('imports a directory as a commit, and again only after a change', async (t) => {
  const { host } = await startHost(t)
  const files = await scratchDirectory(t)
  await mkdir(join(files, 'src'))
  await writeFile(join(files, 'src/main.js'), 'hello')
  await writeFile(join(files, 'run.sh'), '#!/bin/sh\n', { mode: 0o755 })
  const first = await host.importDirectory(organizationA, 'hello', files, 'Example')
  assert.equal(await host.importDirectory(organizationA, 'hello', files, 'Example'), first)
  await rm(join(files, 'run.sh'))
  const second = await host.importDirectory(organizationA, 'hello', files, '-m "Example", changed')
  const path = host.repositoryPath(organizationA, 'hello') ?? ''
  assert.equal(
    await git(path, 'ls-tree', '-r', first),
    `100755 blob ${await git(path, 'rev-parse', `${first}:run.sh`)}\trun.sh
100644 blob ${await git(path, 'rev-parse', `${first}:src/main.js`)}\tsrc/main.js`,
  )
  assert.equal(
    await git(path, 'log', '--format=%H %P %an <%ae> %s', 'main'),
    `${second} ${first} Quayside <quayside@localhost> -m "Example", changed\n${first}  Quayside ` +
      '<quayside@localhost> Example',
  )
  assert.deepEqual(
    (await readdir(path)).filter((name) => name.endsWith('.index')),
    [],
  )
})
