import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertError } from '../contract/requests.ts'
import { createPlatform } from '../support/platform.ts'

/** Groups F, G, H, I, J: input of users that reaches git, builds, engines and receivers. */
const platform = await createPlatform({ after })
const { a, b, call } = platform
const token = a.tokens.ADMIN
const applications = `/environment/${a.objects.environmentId}/application`
let count = 0
const create = (change: Record<string, unknown>, repository: Record<string, unknown> = {}) =>
  call(token, 'POST', applications, {
    name: `attack-${count++}`,
    git_repository: { url: 'https://github.com/o/r.git', ...repository },
    ...change,
  })

async function refused(answer: Promise<Awaited<ReturnType<typeof call>>>, field: RegExp, what: string): Promise<void> {
  const before = await platform.fingerprint()
  const given = await answer
  assertError(given, 400)
  assert.match(given.body.message, field, what)
  assert.deepEqual(await platform.fingerprint(), before, what)
}

const urls = [
  'ext::sh -c id',
  'EXT::x',
  'file:///etc',
  '/srv/x',
  '../x',
  'C:\\x',
  '--upload-pack=id',
  '-cx=y',
  'ssh://h/x',
  'ssh://-oProxyCommand=id/x',
  'git@-oProxyCommand=id:x',
  'git@host:o/r',
  'git://h/x',
  'ftp://h/x',
  'http://93.184.216.34/x',
  'javascript:x',
  'data:x',
  'github.com/o/r',
  'https://user:SECRET-CANARY@github.com/o/r',
  'https://github.com/o/r\n',
  'https://127.0.0.1/x',
  'https://0/x',
  'https://2130706433/x',
  'https://0x7f.1/x',
  'https://017700000001/x',
  'https://127.1/x',
  'https://localhost./x',
  'https://[::1]/x',
  'https://[::ffff:127.0.0.1]/x',
  'https://169.254.169.254/x',
  'https://10.0.0.1/x',
  'https://172.16.0.1/x',
  'https://192.168.0.1/x',
  'https://100.64.0.1/x',
  'https://168.63.129.16/x',
  'https://[fc00::1]/x',
  'https://[64:ff9b::a9fe:a9fe]/x',
  'https://[2002:7f00:1::]/x',
  'https://[fe80::1]/x',
  'https://224.0.0.1/x',
  'https://240.0.0.1/x',
]
for (const url of urls) {
  test(`F1–F9 the repository address ${JSON.stringify(url)} is refused`, async () => {
    await refused(create({}, { url }), /^git_repository\.url/, url)
    const list = call(token, 'POST', `/organization/${a.organizationId}/listDirectoriesFromGitRepository`, { url })
    await refused(list, /./, url)
    assert.equal(platform.logged.join('').includes('SECRET-CANARY@'), false)
  })
}

test('F13 F14 F15 invalid branches are refused', async () => {
  const names = [
    '--upload-pack=id;x',
    '-x',
    'a..b',
    'a b',
    '@{u}',
    'x.lock',
    '/x',
    'x/',
    'a\\b',
    'a~1',
    'a^',
    'a:b',
    '*',
    'a;id',
    '$(id)',
    '`id`',
    'a&b',
    'a|b',
    'x'.repeat(250),
  ]
  for (const branch of names) await refused(create({}, { branch }), /^git_repository\.branch/, branch)
})

test('F16 invalid commits are refused', async () => {
  for (const git_commit_id of ['HEAD', 'HEAD~1', 'main', '--output=x', 'abcdef', 'g'.repeat(40), 'a'.repeat(65)]) {
    const answer = call(token, 'POST', `/application/${a.objects.applicationId}/deploy`, { git_commit_id })
    await refused(answer, /^git_commit_id/, git_commit_id)
  }
})

test('F26 G1 G2 paths and stages that leave the repository are refused', async () => {
  for (const path of ['../x', 'a/../../b', 'a\\b', '-r', '-', 'a\nb', 'C:\\x', 'x'.repeat(5000)]) {
    await refused(create({ dockerfile_path: path }), /^dockerfile_path/, path)
    await refused(create({}, { root_path: path }), /^git_repository\.root_path/, path)
  }
  for (const path of ['/etc/passwd', 'https://x/Dockerfile', ''])
    await refused(create({ dockerfile_path: path }), /^dockerfile_path/, path)
  for (const docker_target_build_stage of ['x --network=host', '$(id)', '-x', 'x'.repeat(129)]) {
    await refused(create({ docker_target_build_stage }), /^docker_target_build_stage/, docker_target_build_stage)
  }
})

test('F28 F31 J1 J4 J9 J15 addresses and secrets of git tokens and webhooks are checked', async () => {
  const tokens = `/organization/${a.organizationId}/gitToken`
  const git = { name: 'x', type: 'GITHUB', token: 'good' }
  for (const git_api_url of ['http://10.0.0.1', 'https://127.0.0.1', 'https://u:p@github.com', 'file:///x']) {
    await refused(call(token, 'POST', tokens, { ...git, git_api_url }), /^git_api_url/, git_api_url)
  }
  for (const bad of ['a b', 'x\r\nHost: evil', ''])
    await refused(call(token, 'POST', tokens, { ...git, token: bad }), /^token/, bad)
  await refused(call(token, 'POST', tokens, { ...git, type: 'BITBUCKET' }), /^workspace/, 'workspace')
  const hooks = `/organization/${a.organizationId}/webhook`
  const hook = { target_url: 'https://example.org/x', events: ['DEPLOYMENT_STARTED'] }
  const targets = [
    'http://example.org',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/',
    'https://example.org:22/',
    'https://u:p@example.org/',
    'https://example.org/#x',
    'x',
    'http://localhost:3000/',
  ]
  for (const target_url of targets)
    await refused(call(token, 'POST', hooks, { ...hook, target_url }), /^target_url/, target_url)
  for (const events of [[], ['NOPE'], ['deployment_started'], ['DEPLOYMENT_FAILED', 'DEPLOYMENT_FAILURE']]) {
    await refused(call(token, 'POST', hooks, { ...hook, events }), /^events/, String(events))
  }
  await refused(call(token, 'POST', hooks, { ...hook, enabled: 'yes' }), /^enabled/, 'enabled')
  await refused(call(token, 'POST', hooks, { ...hook, target_secret: 'a\r\nb' }), /^target_secret/, 'target_secret')
})

test('H1 H3 H8 ambiguous keys and mount paths are refused', async () => {
  const path = `/application/${a.objects.applicationId}/environmentVariable`
  for (const key of ['A=B', 'A\nB', '', 'A B', '1A', '-A', 'é', 'QOVERY_X', '__proto__', '__x', 'a'.repeat(256)]) {
    await refused(call(token, 'POST', path, { key, value: 'x' }), /key/, key)
  }
  await refused(call(token, 'POST', path, { key: 'A' }), /value/, 'no value')
  for (const mount_path of [
    '/',
    '/etc/../proc/1',
    '../x',
    'x',
    '/proc/x',
    '/sys/x',
    '/dev/x',
    '/var/run/docker.sock',
    '/a\nb',
  ]) {
    await refused(call(token, 'POST', path, { key: 'F', value: 'x', mount_path }), /mount_path/, mount_path)
  }
})

test('I19 I22 I24 probes, names and volumes that reach the machine are refused', async () => {
  const probe = (type: unknown) => ({ healthchecks: { readiness_probe: { type } } })
  await refused(create(probe({ http: { path: '/x\r\nA: b', port: 80 } })), /http\.path/, 'CRLF')
  await refused(create(probe({ tcp: { port: 80, host: '169.254.169.254' } })), /tcp\.host/, 'host')
  await refused(create(probe({ tcp: { port: 0 } })), /port must be ≥ 1/, 'port')
  await refused(create(probe({})), /exactly one/, 'none')
  for (const mount_point of ['/', '..', '/var/run', '/proc', '/a/../b', 'x']) {
    await refused(create({ storage: [{ type: 'FAST_SSD', size: 1, mount_point }] }), /mount_point/, mount_point)
  }
  await refused(create({ storage: [{ type: 'NVME', size: 1, mount_point: '/x' }] }), /type must be one of/, 'type')
  await refused(create({ icon_uri: 'javascript:alert(1)' }), /^icon_uri/, 'icon')
  await refused(create({ name: 'x'.repeat(64) }), /^name/, 'long')
})

test('D11 the git token of another organization is answered like an unknown one', async () => {
  const before = await platform.fingerprint()
  assertError(await create({}, { git_token_id: b.objects.gitTokenId }), 404)
  const list = `/organization/${a.organizationId}/listDirectoriesFromGitRepository`
  assertError(
    await call(token, 'POST', list, { url: 'https://github.com/o/r', git_token_id: b.objects.gitTokenId }),
    404,
  )
  assert.deepEqual(await platform.fingerprint(), before)
})

test('D9 the cluster of another organization is answered like an unknown one', async () => {
  const path = `/project/${a.objects.projectId}/environment`
  assertError(await call(token, 'POST', path, { name: 'x', cluster_id: b.clusterId }), 404)
})

test('I23 fields that try to configure the engine are dropped', async () => {
  const answer = await create({
    privileged: true,
    HostConfig: { Binds: ['/:/host'] },
    cap_add: ['ALL'],
    arguments: ['--privileged', ';id'],
  })
  assert.equal(answer.status, 201, answer.text)
  assert.deepEqual(Object(answer.body).arguments, ['--privileged', ';id'])
  for (const member of ['privileged', 'HostConfig', 'cap_add']) assert.equal(answer.text.includes(`"${member}"`), false)
})

test('I1 parallel deploys of one caller are merged into one waiting request', async () => {
  const { applicationId, environmentId } = await platform.addObjects(a)
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call(token, 'POST', `/application/${applicationId}/deploy`, {})),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [202])
  assert.equal(new Set(answers.map(({ body }) => Object(body).id)).size, 1)
  const queue = await call(token, 'GET', `/environment/${environmentId}/deploymentQueue`)
  assert.equal(Object(queue.body).results.length, 1)
  const other = await call(a.tokens.DEPLOY, 'POST', `/application/${applicationId}/deploy`, {})
  assert.notEqual(Object(other.body).id, Object(answers[0]?.body).id, 'another caller has its own waiting request')
})

test('N1 the limit reports how long to wait', async (t) => {
  const limited = await createPlatform(t, { settings: { QUAYSIDE_RATE_LIMIT: '1', QUAYSIDE_RATE_BURST: '3' } })
  const ask = () => limited.call(limited.a.tokens.READ, 'GET', `/organization/${limited.a.organizationId}`)
  const answers = [await ask(), await ask(), await ask(), await ask()]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 429],
  )
  const last = answers[3]
  assert.equal(last?.headers['x-ratelimit-reset'], '1')
  assert.equal(last?.headers['retry-after'], '1')
  assert.equal(
    (await limited.call(limited.b.tokens.READ, 'GET', `/organization/${limited.b.organizationId}`)).status,
    200,
  )
})
