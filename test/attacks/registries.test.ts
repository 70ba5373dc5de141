import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { after, test } from 'node:test'
import { assertError } from '../contract/requests.ts'
import { outsideLogin, startOutside } from '../support/outside.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Group F for requests that leave the platform: registries, Helm repositories, git providers, and
 * reads of repositories.
 */
const platform = await createPlatform({ after })
const { a, b, call } = platform
const outside = await startOutside()
after(() => outside.close())
await Promise.all([platform.addRepository(a), platform.addRepository(b)])
const hello = 'http://localhost:3000/git/hello.git'
const environment = `/environment/${a.objects.environmentId}`
const organization = `/organization/${a.organizationId}`
const post = (path: string, body: object) => call(a.tokens.ADMIN, 'POST', path, body)

/** Every operation that opens a repository named in its body. */
const looks: Readonly<Record<string, (git_repository: object) => ReturnType<typeof call>>> = {
  checkDockerfile: (git_repository) =>
    post(`${environment}/checkDockerfile`, { git_repository, dockerfile_path: 'Dockerfile' }),
  checkHelmRepository: (git_repository) => post(`${environment}/checkHelmRepository`, { git_repository }),
  checkGitFile: (git_repository) => post(`${environment}/checkGitFile`, { git_repository, files: ['Dockerfile'] }),
  helmDefaultValues: (git_repository) => post(`${environment}/helmDefaultValues`, { source: { git_repository } }),
  parseVariables: (git_repository) => post(`${organization}/parseTerraformVariablesFromGitRepo`, { git_repository }),
  listTfVars: (git_repository) =>
    post(`${organization}/listTfVarsFilesFromGitRepo`, { git_repository, mode: { type: 'AutoDiscover' } }),
}

async function programsDuring(work: () => Promise<void>): Promise<number> {
  let started = 0
  const count = (): void => void started++
  subscribe('child_process', count)
  await work().finally(() => unsubscribe('child_process', count))
  return started
}

const badUrls = [
  'file:///etc',
  '/etc/passwd',
  '--upload-pack=id',
  'ext::sh -c id',
  'ssh://-oProxyCommand=id/x',
  'https://user:pass@example.com/a.git',
  'http://127.0.0.1:1/a.git',
  'https://169.254.169.254/a.git',
  'https://[::1]/a.git',
  `${outside.origin}/a.git`,
]
for (const [name, look] of Object.entries(looks)) {
  test(`${name}: invalid and private addresses start no program and no connection`, async () => {
    const before = outside.asked.length
    const started = await programsDuring(async () => {
      for (const url of badUrls) assertError(await look({ url }), 400)
    })
    assert.equal(started, 0)
    assert.equal(outside.asked.length, before)
  })

  test(`${name}: branches and paths that are options or leave the repository are refused`, async () => {
    for (const change of [
      { branch: '--output=/tmp/x' },
      { branch: '-x' },
      { branch: 'a..b' },
      { branch: 'main:refs/heads/x' },
      { root_path: '../..' },
      { root_path: '/../' },
      { root_path: '.git' },
      { root_path: '--help' },
    ]) {
      assertError(await look({ url: hello, ...change }), 400)
    }
  })

  test(`${name}: a token of another organization is not found, and one for another host is not used`, async () => {
    assertError(await look({ url: hello, git_token_id: b.objects.gitTokenId }), 404)
    assertError(await look({ url: hello, git_token_id: a.objects.gitTokenId }), 400)
  })
}

test('paths of files stay inside the repository', async () => {
  for (const path of ['../Dockerfile', '/etc/passwd', '.git/config', '--help', 'a\u0000b', '%2e%2e/x', '\\x']) {
    const git_repository = { url: hello }
    assertError(await post(`${environment}/checkGitFile`, { git_repository, files: [path] }), 400)
    assertError(await post(`${environment}/checkDockerfile`, { git_repository, dockerfile_path: path }), 400)
    const mode = { type: 'SpecificPaths', paths: [path] }
    assertError(await post(`${organization}/listTfVarsFilesFromGitRepo`, { git_repository, mode }), 400)
  }
})

test('a start commit is an id, not an option or a name', async () => {
  const path = `/application/${a.objects.applicationId}/commit`
  for (const id of ['--output=/tmp/x', 'HEAD', 'main', '-1', '..', '0190a000-0000-7000-8000-00000000abcd']) {
    for (const name of ['startId', 'gitCommitId']) {
      assertError(await call(a.tokens.READ, 'GET', `${path}?${new URLSearchParams({ [name]: id })}`), 400)
    }
  }
})

test('a registry in a private network is neither stored nor asked', async () => {
  const before = outside.asked.length
  const body = { name: 'private', kind: 'GENERIC_CR', url: outside.origin, config: outsideLogin }
  assertError(await post(`${organization}/containerRegistry`, body), 400)
  const chart = { ...body, kind: 'HTTPS', skip_tls_verification: true }
  assertError(await post(`${organization}/helmRepository`, chart), 400)
  // Stored while the network was still allowed.
  const { containerRegistryId, helmRepositoryId } = a.objects.more
  await platform.database`update container_registry set url = ${outside.origin} where id = ${containerRegistryId ?? ''}`
  await platform.database`update helm_repository set url = ${outside.origin} where id = ${helmRepositoryId ?? ''}`
  const image = { registry_id: containerRegistryId, image_name: 'team/shop', tag: '1.1' }
  for (const answer of [
    await call(a.tokens.ADMIN, 'GET', `${organization}/containerRegistry/${containerRegistryId}/images?imageName=x`),
    await call(a.tokens.ADMIN, 'GET', `${organization}/helmRepository/${helmRepositoryId}/charts`),
    await post(`${environment}/checkContainerImage`, image),
  ]) {
    assertError(answer, 400)
    assert.match(answer.body.message, /is not public/)
  }
  assert.equal(outside.asked.length, before)
})

test('registries of another organization are not found in paths and bodies', async () => {
  const { containerRegistryId, helmRepositoryId } = b.objects.more
  const image = { registry_id: containerRegistryId, image_name: 'team/shop', tag: '1.1' }
  assertError(await post(`${environment}/checkContainerImage`, image), 404)
  const helm_repository = { repository: helmRepositoryId, chart_name: 'web', chart_version: '1.2.0' }
  assertError(await post(`${environment}/helmDefaultValues`, { source: { helm_repository } }), 404)
})

test('requests with stored secrets need WRITE', async () => {
  const { containerRegistryId, helmRepositoryId } = a.objects.more
  for (const path of [
    `${organization}/containerRegistry/${containerRegistryId}/images`,
    `${organization}/helmRepository/${helmRepositoryId}/charts`,
    `${organization}/account/github/repository`,
  ]) {
    assertError(await call(a.tokens.READ, 'GET', path), 403)
  }
})
