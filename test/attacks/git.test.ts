import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { canaryOf } from '../support/fixture.ts'
import { createPlatform } from '../support/platform.ts'

/** Group F at the API: input that could start a program, leak a secret, or make the server wait. */
const platform = await createPlatform({ after }, { settings: { QUAYSIDE_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' } })
const { a, b, call } = platform
const token = a.tokens.ADMIN
await Promise.all([platform.addRepository(a), platform.addRepository(b)])
const list = (body: object, caller = a) =>
  call(caller.tokens.ADMIN, 'POST', `/organization/${caller.organizationId}/listDirectoriesFromGitRepository`, body)
const hello = 'http://localhost:3000/git/hello.git'

/** A git server that never answers. It counts the requests. */
const asked: IncomingMessage[] = []
let open = 0
let most = 0
const silent = createServer((request) => {
  asked.push(request)
  most = Math.max(most, ++open)
  request.socket.once('close', () => open--)
})
silent.listen(0, '127.0.0.1')
await once(silent, 'listening')
after(() => {
  silent.closeAllConnections()
  silent.close()
})
const bound = silent.address()
const silentUrl = `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}/a/b.git`

/** Returns how many programs were started during the work. */
async function programsDuring(work: () => Promise<void>): Promise<number> {
  let started = 0
  const count = (): void => void started++
  subscribe('child_process', count)
  await work()
  unsubscribe('child_process', count)
  return started
}

test('a program reads a repository that may be read', async () => {
  const started = await programsDuring(async () => {
    const answer = await list({ url: hello })
    assert.deepEqual([answer.status, Object(answer.body).results], [200, ['source']])
  })
  assert.ok(started > 0)
})

const roots = [
  '..',
  '../..',
  '/etc/../..',
  'a/../../b',
  '%2e%2e',
  'a%2fb',
  '\\',
  'a\\..\\b',
  '-r',
  '--help',
  '.git',
  'a\nb',
  'x'.repeat(4096),
]
const branches = ['--upload-pack=touch x', '-x', 'a..b', '$(id)', 'a;id', '@{u}', 'x.lock']
const urls = [
  'ext::sh -c id',
  'file:///etc',
  '/srv/x',
  '--upload-pack=id',
  'ssh://-oProxyCommand=id/x',
  'http://localhost:3000/git/../x.git',
  'http://localhost:3000/git/a%2fb.git',
  `${hello}?x`,
  `${hello}#x`,
]
test('F1 to F5, F13 to F15, F26: refused input starts no program', async () => {
  const before = await platform.fingerprint()
  const started = await programsDuring(async () => {
    for (const root_path of roots) {
      const { status, text } = await list({ url: hello, root_path })
      assert.equal(status, 400, `${root_path}: ${text}`)
    }
    for (const branch of branches) assert.equal((await list({ url: hello, branch })).status, 400, branch)
    for (const url of urls) assert.equal((await list({ url })).status, 400, url)
  })
  assert.equal(started, 0)
  assert.deepEqual(await platform.fingerprint(), before)
})

test('F8: credentials in an address are neither stored, nor returned, nor logged', async () => {
  const url = 'https://somebody:SECRET-IN-URL@github.com/a/b.git'
  const answers = [
    await list({ url }),
    await call(token, 'POST', `/environment/${a.objects.environmentId}/application`, {
      name: 'f8',
      git_repository: { url },
    }),
    await call(token, 'POST', `/organization/${a.organizationId}/gitToken`, {
      name: 'f8',
      type: 'GITHUB',
      token: 'x',
      git_api_url: url,
    }),
  ]
  for (const { status, text } of answers) {
    assert.equal(status, 400)
    assert.ok(!text.includes('SECRET-IN-URL'))
  }
  assert.ok(platform.logged.every((line) => !line.includes('SECRET-IN-URL')))
})

test('F29: a git token goes only to its own host', async () => {
  const elsewhere = { url: silentUrl, git_token_id: a.objects.gitTokenId }
  const started = await programsDuring(async () => {
    assert.equal((await list(elsewhere)).status, 400)
    const body = { name: 'f29', git_repository: elsewhere }
    assert.equal((await call(token, 'POST', `/environment/${a.objects.environmentId}/application`, body)).status, 400)
    const path = `/application/${a.objects.applicationId}`
    assert.equal((await call(token, 'PUT', path, { git_repository: elsewhere })).status, 400)
    const good = { url: 'https://gitlab.com/a/b.git', git_token_id: a.objects.gitTokenId }
    assert.equal((await call(token, 'PUT', path, { git_repository: good })).status, 200)
    // The token is kept if the change names none. Then the address must not leave the token's host.
    assert.equal((await call(token, 'PUT', path, { git_repository: { url: silentUrl } })).status, 400)
    assert.equal(
      (await call(token, 'PUT', path, { git_repository: { url: silentUrl, git_token_id: null } })).status,
      200,
    )
  })
  assert.deepEqual([started, asked.length], [0, 0])
})

test('F30: a repository of another organization is answered like an unknown one', async () => {
  await platform.gitHost.importDirectory(b.organizationId, 'theirs', import.meta.dirname, 'x')
  const [theirs, nobodys] = [
    await list({ url: 'http://localhost:3000/git/theirs.git' }),
    await list({ url: 'http://localhost:3000/git/nobodys.git' }),
  ]
  assert.equal(theirs.status, 400)
  assert.equal(theirs.text.replaceAll('theirs', '*'), nobodys.text.replaceAll('nobodys', '*'))
})

test('F27: at most four requests wait for a silent server, and other organizations do not wait', async () => {
  const started = performance.now()
  const waiting = Promise.all(Array.from({ length: 50 }, () => list({ url: silentUrl })))
  const theirs = performance.now()
  assert.equal((await list({ url: hello }, b)).status, 200)
  assert.ok(performance.now() - theirs < 8000)
  for (const { status, text } of await waiting) {
    assert.equal(status, 400)
    assert.match(text, /did not answer within/)
  }
  assert.ok(performance.now() - started < 60_000)
  assert.ok(most > 0 && most <= 4, `${most} at a time`)
  assert.ok(platform.logged.every((line) => !line.includes(canaryOf(a))))
})
