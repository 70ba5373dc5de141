import assert from 'node:assert/strict'
import { randomBytes, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { expired, selfSigned } from '../../test/support/self-signed.ts'
import { until } from '../../test/support/until.ts'
import { type AddressGuard, createAddressGuard } from '../lib/address.ts'
import { Secret } from '../lib/secret.ts'
import { createGit, type GitDriver } from './create-git.ts'
import type { GitError } from './git.ts'
import {
  commandLines,
  commit,
  git,
  listen,
  newWorkTree,
  organizationA,
  scratchDirectory,
  sendOn,
  startHost,
} from './git-server.fixture.ts'
import type { GitLimits } from './limits.ts'

const { signal } = new AbortController()
const silentAttempt = { signal, output: { line() {} } }
const credential = { username: 'git', password: new Secret('SECRET-CANARY-1234') }
const encoded = Buffer.from('git:SECRET-CANARY-1234').toString('base64')
const someCommit = '1234567890'.repeat(4)

async function newDriver(
  t: TestContext,
  options: { limits?: Partial<GitLimits>; guard?: AddressGuard } = {},
): Promise<GitDriver & { readonly directory: string }> {
  const directory = await scratchDirectory(t)
  const guard = options.guard ?? createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'] })
  return { ...createGit({ directory, guard, limits: options.limits ?? {} }), directory }
}

/** Every operation of a driver that uses the network. */
const ways = (driver: GitDriver, url: string): Record<string, () => Promise<unknown>> => ({
  resolveHead: () => driver.resolveHead({ url, credential }, signal),
  resolveCommit: () => driver.resolveCommit({ url, credential, branch: 'main' }, someCommit, signal),
  listDirectories: () => driver.listDirectories({ url, credential, branch: 'main' }, '', signal),
  checkout: () => driver.checkout({ url, credential, branch: 'main' }, someCommit, silentAttempt),
  log: () => driver.log({ url, credential, branch: 'main' }, { count: 10 }, signal),
  look: () => driver.look({ url, credential, branch: 'main' }, signal, async ({ files }) => files),
})

test('a redirecting server is not followed', async (t) => {
  let hits = 0
  const canary = await listen(t, (_request, response) => {
    hits++
    response.end()
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const origin = await listen(t, (request, response) =>
      response.writeHead(status, { location: `${canary}${request.url}` }).end(),
    )
    for (const [name, ask] of Object.entries(ways(await newDriver(t), `${origin}/a.git`))) {
      await assert.rejects(ask, { name: 'GitError', reason: 'unreachable' }, `${name} ${status}`)
    }
  }
  assert.equal(hits, 0)
})

test('a hanging server times out and leaves nothing behind', async (t) => {
  const driver = await newDriver(t, { limits: { questionMs: 400, checkoutMs: 400 } })
  const origin = await listen(t, () => {})
  for (const [name, ask] of Object.entries(ways(driver, `${origin}/a.git`))) {
    const began = performance.now()
    await assert.rejects(ask, { name: 'GitError', reason: 'timeout' }, name)
    assert.ok(performance.now() - began < 20_000, name)
  }
  assert.deepEqual(await readdir(join(driver.directory, 'scratch')), [])
  assert.deepEqual(await commandLines(origin), [])
})

/**
 * Sends the bytes one by one while the client listens. Returns how many were sent and whether the
 * client still listens.
 */
function trickle(response: ServerResponse, bytes: Buffer): { sent: number; isOver: boolean } {
  const state = { sent: 0, isOver: false }
  const timer = setInterval(() => {
    response.write(bytes.subarray(state.sent % bytes.length, (state.sent % bytes.length) + 1))
    state.sent++
  }, 20)
  response.once('close', () => {
    clearInterval(timer)
    state.isOver = true
  })
  return state
}

test('a trickling server times out for every operation', async (t) => {
  const driver = await newDriver(t, { limits: { questionMs: 1000, checkoutMs: 1000 } })
  const trickled: { sent: number; isOver: boolean }[] = []
  const origin = await listen(t, (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
    trickled.push(trickle(response, Buffer.from('001e# service=git-upload-pack\n0000')))
  })
  for (const [name, ask] of Object.entries(ways(driver, `${origin}/a.git`))) {
    const began = performance.now()
    await assert.rejects(ask, { name: 'GitError', reason: 'timeout' }, name)
    assert.ok(performance.now() - began < 10_000, name)
    assert.ok((trickled.at(-1)?.sent ?? 0) > 1, `${name}: bytes came`)
  }
  await until('all answers have ended', () => trickled.every(({ isOver }) => isOver))
  assert.deepEqual(await readdir(join(driver.directory, 'scratch')), [])
  assert.deepEqual(await commandLines(origin), [])
})

test('a server that trickles the objects times out and leaves nothing behind', async (t) => {
  const trickled: { sent: number; isOver: boolean }[] = []
  const { id, repository } = await hostBehind(t, (pack, response) => {
    response.write(pack.subarray(0, 20_000))
    trickled.push(trickle(response, pack.subarray(20_000)))
  })
  const driver = await newDriver(t, { limits: { checkoutMs: 5000 } })
  const began = performance.now()
  await assert.rejects(driver.checkout(repository, id, silentAttempt), { name: 'GitError', reason: 'timeout' })
  assert.ok(performance.now() - began < 20_000)
  assert.ok((trickled.at(-1)?.sent ?? 0) > 1, 'bytes came')
  await until('all answers have ended', () => trickled.every(({ isOver }) => isOver))
  assert.deepEqual(await readdir(join(driver.directory, 'scratch')), [])
})

/**
 * The built-in host with one commit, and a server in front of it that changes the answer with the
 * objects.
 */
async function hostBehind(t: TestContext, spoil: (pack: Buffer, response: ServerResponse) => void) {
  const real = await startHost(t)
  const work = await newWorkTree(t)
  const id = await commit(work, { 'large.bin': randomBytes(200_000) })
  await git(work, 'push', '--quiet', await real.host.ensure(organizationA, 'app'), 'main')
  const origin = await listen(t, (request, response) => {
    sendOn(real.origin, request, response, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => void chunks.push(chunk))
      answer.on('end', () => {
        const whole = Buffer.concat(chunks)
        delete answer.headers['transfer-encoding']
        response.writeHead(answer.statusCode ?? 502, { ...answer.headers, 'content-length': whole.length })
        if (whole.length < 100_000) response.end(whole)
        else spoil(whole, response)
      })
    })
  })
  return {
    id,
    repository: { url: `${origin}/git/app.git`, credential: { ...credential, password: new Secret('token-of-a') } },
  }
}

const spoiled: Record<string, [(pack: Buffer, response: ServerResponse) => void, GitError['reason'], RegExp]> = {
  'closes when half of the objects are sent': [
    (pack, response) => void response.write(pack.subarray(0, pack.length / 2), () => response.destroy()),
    'unreachable',
    /closed the connection/,
  ],
  'sends objects that are not what their names say': [
    (pack, response) => {
      pack.writeUInt8(pack.readUInt8(pack.length >> 1) ^ 0xff, pack.length >> 1)
      response.end(pack)
    },
    'path',
    /broken/,
  ],
}
for (const [what, [spoil, reason, message]] of Object.entries(spoiled)) {
  test(`a server that ${what} is reported as that, and leaves nothing behind`, async (t) => {
    const { id, repository } = await hostBehind(t, spoil)
    const driver = await newDriver(t)
    await assert.rejects(driver.checkout(repository, id, silentAttempt), { name: 'GitError', reason, message })
    assert.deepEqual(await readdir(join(driver.directory, 'scratch')), [])
  })
}

test('a server that fails, or refuses in the middle, is reported as that', async (t) => {
  for (const [status, reason] of [
    [500, 'unreachable'],
    [503, 'unreachable'],
    [401, 'denied'],
  ] as const) {
    const real = await startHost(t)
    await real.host.ensure(organizationA, 'app')
    const origin = await listen(t, (request, response) => {
      // The first requests are answered correctly.
      if (request.method === 'POST') return void response.writeHead(status, { 'www-authenticate': 'Basic' }).end()
      sendOn(real.origin, request, response)
    })
    const repository = {
      url: `${origin}/git/app.git`,
      credential: { ...credential, password: new Secret('token-of-a') },
    }
    const driver = await newDriver(t)
    await assert.rejects(
      driver.checkout(repository, someCommit, silentAttempt),
      { name: 'GitError', reason },
      `${status}`,
    )
  }
})

test('an unknown host name and an expired certificate are reported as such', async (t) => {
  const unknown = await newDriver(t, { guard: createAddressGuard({ allowedPrivateCidrs: [] }) })
  await assert.rejects(unknown.resolveHead({ url: 'https://nowhere.invalid/a.git' }, signal), {
    name: 'GitError',
    reason: 'unreachable',
    message: /The name "nowhere\.invalid" was not found/,
  })
  assert.ok(Date.parse(new X509Certificate(expired.cert).validTo) < Date.now())
  const resolve = async () => ['127.0.0.1']
  const driver = await newDriver(t, { guard: createAddressGuard({ allowedPrivateCidrs: ['127.0.0.0/8'], resolve }) })
  for (const [host, certificate] of [
    ['expired.example', expired],
    ['outside.invalid', selfSigned],
  ] as const) {
    let requests = 0
    const server = createServer(certificate, (_request, response) => {
      requests++
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => void server.close())
    // The address of a TCP server is never a path.
    const { port } = server.address() as AddressInfo
    for (const [name, ask] of Object.entries(ways(driver, `https://${host}:${port}/a.git`))) {
      const message = new RegExp(`certificate of ${host.replace('.', '\\.')}:${port} is not accepted`)
      await assert.rejects(ask, { name: 'GitError', reason: 'unreachable', message }, name)
    }
    // A server with such a certificate learned neither the path nor the credential.
    assert.equal(requests, 0)
  }
})

test('the credential is sent in a header and is in no command line, log line or error', async (t) => {
  const seen: { commands: string[]; header: string | undefined } = { commands: [], header: undefined }
  const origin = await listen(t, (request, response) => {
    seen.header = request.headers.authorization
    void commandLines(origin).then((commands) => {
      seen.commands = commands
      // git shows the user the text of such an answer.
      response
        .writeHead(500, { 'content-type': 'text/plain' })
        .end(`SECRET-CANARY-1234 ${request.headers.authorization}\n`)
    })
  })
  const driver = await newDriver(t)
  const lines: string[] = []
  const output = { line: (text: string) => void lines.push(text) }
  const repository = { url: `${origin}/a.git`, credential }
  const thrown: unknown = await driver.checkout(repository, someCommit, { signal, output }).catch((error) => error)
  assert.ok(thrown instanceof Error)
  assert.equal(seen.header, `Basic ${encoded}`)
  assert.ok(seen.commands.length > 0)
  const texts = [...seen.commands, ...lines, thrown.message, thrown.stack, String(thrown.cause)]
  assert.deepEqual(
    texts.filter((text) => text?.includes('CANARY') || text?.includes(encoded.slice(0, 20))),
    [],
  )
  assert.ok(lines.some((line) => line.includes('******')))
})

test('credentials with line breaks, empty and endless ones are rejected before any request', async (t) => {
  let hits = 0
  const origin = await listen(t, () => hits++)
  const driver = await newDriver(t)
  for (const [username, password] of [
    ['git', 'x\r\nHost: evil'],
    ['git', 'x\n'],
    ['git', ''],
    ['git', 'x'.repeat(1024 ** 2)],
    ['a:b', 'x'],
    ['a\n', 'x'],
  ] as const) {
    const repository = { url: `${origin}/a.git`, credential: { username, password: new Secret(password) } }
    await assert.rejects(driver.resolveHead(repository, signal), { reason: 'denied' })
  }
  assert.equal(hits, 0)
})

test('a private address gets no connection under any name', async (t) => {
  let hits = 0
  const { port } = new URL(await listen(t, () => hits++))
  const names: Record<string, readonly string[]> = {
    'rebound.example': ['127.0.0.1'],
    'mixed.example': ['93.184.216.34', '127.0.0.1'],
  }
  const guard = createAddressGuard({ allowedPrivateCidrs: ['10.0.0.0/8'], resolve: async (name) => names[name] ?? [] })
  const driver = await newDriver(t, { guard })
  for (const host of ['127.0.0.1', 'localhost', '127.1', '[::1]', 'rebound.example', 'mixed.example']) {
    for (const scheme of ['http', 'https']) {
      for (const [name, ask] of Object.entries(ways(driver, `${scheme}://${host}:${port}/a.git`))) {
        await assert.rejects(ask, { name: 'GitError', reason: 'address' }, `${name} ${scheme} ${host}`)
      }
    }
  }
  assert.equal(hits, 0)
})

test('connects to the checked address, not to a later one of the same name', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const id = await commit(work, { 'a/b': '1' })
  await git(work, 'push', '--quiet', await server.host.ensure(organizationA, 'app'), 'main')
  let asked = 0
  const guard = createAddressGuard({
    allowedPrivateCidrs: ['127.0.0.0/8'],
    resolve: async () => {
      asked++
      return ['127.0.0.1']
    },
  })
  const driver = await newDriver(t, { guard })
  const url = `http://name-that-no-server-knows.invalid:${new URL(server.origin).port}/git/app.git`
  const repository = { url, credential: { username: 'x', password: new Secret('token-of-a') } }
  assert.equal((await driver.resolveHead(repository, signal)).commit, id)
  assert.deepEqual(await driver.listDirectories(repository, '', signal), ['a'])
  assert.equal(asked, 2)
})

const serveFiles =
  (directory: string): RequestListener =>
  (request, response) => {
    readFile(join(directory, (request.url ?? '').split('?')[0] ?? '')).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    )
  }

test('the old protocol of plain files is rejected, and its alternates get no request', async (t) => {
  let hits = 0
  const canary = await listen(t, () => hits++)
  const files = await scratchDirectory(t)
  const work = await newWorkTree(t)
  const first = await commit(work, { a: '1' })
  const head = await commit(work, { a: '2' })
  await git(files, 'clone', '--quiet', '--bare', work, 'a.git')
  await git(join(files, 'a.git'), 'update-server-info')
  await writeFile(join(files, 'a.git/objects/info/http-alternates'), `${canary}/objects\n`)
  const driver = await newDriver(t)
  const repository = { url: `${await listen(t, serveFiles(files))}/a.git` }
  await assert.rejects(driver.checkout(repository, head, silentAttempt), { reason: 'unreachable', message: /dumb/ })
  await assert.rejects(driver.resolveCommit(repository, first, signal), { reason: 'unreachable', message: /dumb/ })
  await assert.rejects(driver.listDirectories(repository, '', signal), { reason: 'unreachable', message: /dumb/ })
  assert.equal(hits, 0)
})

test('a repository larger than the limit is cancelled and removed', async (t) => {
  const server = await startHost(t)
  const work = await newWorkTree(t)
  const id = await commit(work, { 'large.bin': randomBytes(3 * 1024 ** 2) })
  await git(work, 'push', '--quiet', await server.host.ensure(organizationA, 'app'), 'main')
  const driver = await newDriver(t, { limits: { maxFetchBytes: 1024 ** 2 } })
  const repository = {
    url: `${server.origin}/git/app.git`,
    credential: { username: 'x', password: new Secret('token-of-a') },
  }
  await assert.rejects(driver.checkout(repository, id, silentAttempt), {
    reason: 'limits',
    message: /larger than 1 MiB/,
  })
  assert.deepEqual(await readdir(join(driver.directory, 'scratch')), [])
})

/** Writes a tree without validation and a commit of it, and moves main to it. */
async function plant(bare: string, tree: Buffer, t: TestContext): Promise<{ tree: string; commit: string }> {
  const file = join(await scratchDirectory(t), 'tree')
  await writeFile(file, tree)
  const id = await git(bare, 'hash-object', '-w', '-t', 'tree', '--literally', file)
  const planted = await git(bare, 'commit-tree', id, '-m', 'planted')
  await git(bare, 'update-ref', 'refs/heads/main', planted)
  return { tree: id, commit: planted }
}

const entry = (mode: string, name: string, id: string): Buffer =>
  Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])

test('trees with names that reach outside are rejected', async (t) => {
  const server = await startHost(t)
  const bare = await server.host.ensure(organizationA, 'app')
  const driver = await newDriver(t)
  const repository = {
    url: `${server.origin}/git/app.git`,
    credential: { username: 'x', password: new Secret('token-of-a') },
  }
  const file = join(await scratchDirectory(t), 'blob')
  await writeFile(file, 'content')
  const blob = await git(bare, 'hash-object', '-w', file)
  for (const name of ['.git', '.GIT', '..', '.', 'a/b', '.git::$INDEX_ALLOCATION', 'git~1']) {
    const { commit: id } = await plant(bare, entry('100644', name, blob), t)
    await assert.rejects(driver.checkout(repository, id, silentAttempt), { reason: 'path', message: /unsafe/ }, name)
  }
})

test('a tree of trees of trees is rejected before it is unfolded', async (t) => {
  const server = await startHost(t)
  const bare = await server.host.ensure(organizationA, 'app')
  const file = join(await scratchDirectory(t), 'blob')
  await writeFile(file, '')
  let level = { tree: await git(bare, 'hash-object', '-w', file), commit: '' }
  for (let depth = 0; depth < 10; depth++) {
    const mode = depth === 0 ? '100644' : '40000'
    const names = Array.from({ length: 10 }, (_, index) => entry(mode, `n${index}`, level.tree))
    level = await plant(bare, Buffer.concat(names), t)
  }
  const driver = await newDriver(t, { limits: { maxEntries: 10_000 } })
  const repository = {
    url: `${server.origin}/git/app.git`,
    credential: { username: 'x', password: new Secret('token-of-a') },
  }
  await assert.rejects(driver.checkout(repository, level.commit, silentAttempt), { reason: 'limits' })
})
