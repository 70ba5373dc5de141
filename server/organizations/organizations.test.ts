import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { testDatabase } from '../database/testing.ts'
import { createAddressGuard } from '../lib/address.ts'
import { systemClock } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { testVault } from '../vault/testing.ts'
import { createEnvironments } from './environments.ts'
import { createGitTokens, type GitTokenRequest } from './git-tokens.ts'
import { insertOrganization, type OrganizationRow } from './organization-store.ts'
import { createOrganizations } from './organizations.ts'
import { createProjects } from './projects.ts'

const { sql } = await testDatabase({ after })
const vault = await testVault({ after }, sql)
const base = { database: sql, clock: systemClock }
const guard = createAddressGuard({ allowedPrivateCidrs: [] })
const organizations = createOrganizations({ ...base, endowments: [], addOwner: async () => {} })
const projects = createProjects(base)
const gitTokens = createGitTokens({ ...base, vault, guard })
let cluster: string | undefined
const environments = createEnvironments({
  rules: { find: async () => undefined, give: async () => {} },
  ...base,
  findCluster: async (_sql, _organization, id) => id ?? cluster,
})

let count = 0
async function addOrganization(): Promise<OrganizationRow> {
  const id = newId()
  await insertOrganization(sql, { id, name: `Organization ${++count}`, now: new Date() })
  const [row] = await sql<OrganizationRow[]>`select *, id as organization_id from organization where id = ${id}`
  assert.ok(row)
  return row
}
const organization = await addOrganization()
const other = await addOrganization()
cluster = newId()
await sql`
  insert into cluster (id, organization_id, created_at, updated_at, name, region, cloud_provider, kubernetes)
  values (${cluster}, ${organization.id}, now(), now(), 'local', 'here', 'ON_PREMISE', 'SELF_MANAGED')`

test('an organization changes the sent fields, and null clears them', async () => {
  const first = await organizations.edit(organization, {
    name: 'New',
    website_url: 'https://example.org',
    admin_emails: ['a@b.example'],
  })
  assert.deepEqual([first.name, first.website_url, first.admin_emails], ['New', 'https://example.org', ['a@b.example']])
  const second = await organizations.edit(organization, { name: 'New', website_url: null })
  assert.deepEqual([second.website_url, second.admin_emails], [null, ['a@b.example']])
  assert.equal(second.organization_plan.plan, second.plan)
})

test('an organization’s addresses are stored as sent', async () => {
  const change = {
    website_url: 'example.org',
    repository: 'git@github.com:shop/shop.git',
    logo_url: '/logo.png',
    icon_url: `data:image/png;base64,${'A'.repeat(99_000)}`,
  }
  const edited = await organizations.edit(organization, { name: 'New', ...change })
  const { website_url, repository, logo_url, icon_url } = edited
  assert.deepEqual({ website_url, repository, logo_url, icon_url }, change)
  const cleared = await organizations.edit(organization, { name: 'New', logo_url: null, icon_url: '' })
  assert.deepEqual([cleared.logo_url, cleared.icon_url, cleared.website_url], [null, '', 'example.org'])
})

test('an organization’s addresses cannot be scripts, and its name is unique', async () => {
  const edit = (change: object) => organizations.edit(organization, { name: 'New', ...change })
  const scripts = [
    'javascript:alert(1)',
    ' JavaScript:alert(1)',
    'java\nscript:alert(1)',
    '\u0001vbscript:x',
    'data:text/html,x',
  ]
  for (const script of scripts) {
    for (const field of ['website_url', 'repository', 'logo_url', 'icon_url']) {
      await assert.rejects(edit({ [field]: script }), { code: 'invalid', message: new RegExp(`^${field} must`) })
    }
  }
  await assert.rejects(edit({ admin_emails: ['a@b.example', 'no'] }), { message: /^admin_emails\[1\]/ })
  await assert.rejects(edit({ name: other.name.toUpperCase() }), { code: 'conflict' })
})

test('names are unique only within their parent, ignoring case and Unicode spelling', async () => {
  const one = await projects.create(organization.id, { name: ' Caf\u0065\u0301 ' })
  assert.equal(one.name, 'Café')
  await assert.rejects(projects.create(organization.id, { name: 'CAFÉ' }), { code: 'conflict', message: /"CAFÉ"/ })
  await projects.create(other.id, { name: 'Café' })
  const environment = await environments.create(one, newId(), { name: 'prod' })
  await assert.rejects(environments.create(one, newId(), { name: 'PROD' }), { code: 'conflict' })
  assert.equal(environment.mode, 'DEVELOPMENT')
})

test('a new environment has its stages, and is on the organization’s cluster', async () => {
  const project = await projects.create(organization.id, { name: 'stages' })
  const { id, cluster_id } = await environments.create(project, newId(), { name: 'prod' })
  assert.equal(cluster_id, cluster)
  const stages = await sql<{ name: string }[]>`
    select name from deployment_stage where environment_id = ${id} order by deployment_order`
  assert.deepEqual(
    stages.map(({ name }) => name),
    ['DEFAULT DATABASE', 'DEFAULT JOB', 'DEFAULT CONTAINER', 'DEFAULT APPLICATION'],
  )
  const both = environments.create(project, newId(), { name: 'x', cluster: newId(), cluster_id: newId() })
  await assert.rejects(both, { code: 'invalid', message: /cluster/ })
})

test('a project is removed only when it is empty', async () => {
  const project = await projects.create(organization.id, { name: 'to be removed' })
  const { id } = await environments.create(project, newId(), { name: 'prod' })
  await assert.rejects(projects.remove(project), { code: 'conflict', message: /environments/ })
  await sql`delete from environment where id = ${id}`
  await projects.remove(project)
  assert.ok(!(await projects.list(organization.id)).some((one) => one.id === project.id))
})

const gitToken = (change: Partial<GitTokenRequest> = {}) => ({
  name: `git ${++count}`,
  type: 'GITLAB' as const,
  token: 'glpat-0123456789',
  ...change,
})
const reveal = async (id: string, url: string) => {
  const credential = await gitTokens.credential(sql, organization.id, id, url)
  return credential && [credential.username, credential.password.reveal()]
}

test('a git token is only for its own host', async () => {
  const { id, git_api_url } = await gitTokens.create(organization.id, gitToken())
  assert.equal(git_api_url, 'https://gitlab.com')
  assert.deepEqual(await reveal(id, 'https://gitlab.com/a/b.git'), ['oauth2', 'glpat-0123456789'])
  for (const url of [
    'https://gitlab.com.evil.example/a',
    'https://gitlab.com:8443/a',
    'http://gitlab.com/a/b.git',
    'https://github.com/a',
    'x',
    'https://evil.example/gitlab.com',
  ]) {
    assert.equal(await reveal(id, url), undefined, url)
  }
  const own = await gitTokens.create(organization.id, gitToken({ git_api_url: 'https://git.example.org/api' }))
  assert.ok(await reveal(own.id, 'https://git.example.org/a/b'))
  assert.equal(await reveal(own.id, 'https://gitlab.com/a/b'), undefined)
})

test('a token is rejected for a repository on another host', async () => {
  const { id } = await gitTokens.create(organization.id, gitToken())
  assert.equal(await gitTokens.typeFor(sql, organization.id, id, 'https://gitlab.com/a/b.git'), 'GITLAB')
  const elsewhere = gitTokens.typeFor(sql, organization.id, id, 'https://github.com/a/b.git')
  await assert.rejects(elsewhere, { code: 'invalid', message: /^git_repository\.git_token_id/ })
  await assert.rejects(gitTokens.typeFor(sql, other.id, id, 'https://gitlab.com/a'), { code: 'notFound' })
})

test('each provider gets the user name that it expects', async () => {
  const github = await gitTokens.create(organization.id, gitToken({ type: 'GITHUB' }))
  assert.equal((await reveal(github.id, 'https://github.com/a/b'))?.[0], 'x-access-token')
  const bitbucket = await gitTokens.create(organization.id, gitToken({ type: 'BITBUCKET', workspace: 'team' }))
  assert.equal((await reveal(bitbucket.id, 'https://bitbucket.org/a/b'))?.[0], 'team')
  const without = gitTokens.create(organization.id, gitToken({ type: 'BITBUCKET' }))
  await assert.rejects(without, { code: 'invalid', message: /^workspace/ })
})

test('a token’s value is kept if none is sent, and no row contains it in plain text', async () => {
  const { id, ...made } = await gitTokens.create(organization.id, gitToken())
  await gitTokens.edit(organization.id, id, { name: made.name, type: 'GITLAB' })
  await gitTokens.edit(organization.id, id, { name: made.name, type: 'GITLAB', token: '' })
  assert.equal((await reveal(id, 'https://gitlab.com/x'))?.[1], 'glpat-0123456789')
  await gitTokens.edit(organization.id, id, { name: made.name, type: 'GITLAB', token: 'another' })
  assert.equal((await reveal(id, 'https://gitlab.com/x'))?.[1], 'another')
  assert.ok(!JSON.stringify(await sql`select g::text from git_token g`).includes('glpat'))
})

test('a git token of another organization is unknown', async () => {
  const { id } = await gitTokens.create(other.id, gitToken())
  for (const wrong of [id, newId()]) {
    await assert.rejects(gitTokens.get(organization.id, wrong), { code: 'notFound' })
    await assert.rejects(gitTokens.remove(organization.id, wrong), { code: 'notFound' })
    await assert.rejects(gitTokens.credential(sql, organization.id, wrong, 'https://gitlab.com/x'), {
      code: 'notFound',
    })
  }
})
