import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ClusterLevel, ProjectLevel } from '../../contract/roles.ts'
import { syncMembers } from '../../server/access/index.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { newId } from '../../server/lib/id.ts'
import { addPerson, publicUrl, signIn, tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * Rights of people with roles. test/contract/authorization.test.ts covers each role at each
 * operation.
 */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const path = `/organization/${a.organizationId}`
const { projectId, environmentId, applicationId } = a.objects

let count = 0
const person = (member?: NonNullable<Parameters<typeof addPerson>[1]['member']>) =>
  addPerson(database, { email: `p${++count}@a.example`, ...(member ? { member } : {}) })
const owner = await person({ organizationId: a.organizationId, role: 'OWNER' })
const asOwner = await signIn(platform, owner.id)
const roles: { id: string; name: string }[] = Object((await call(asOwner, 'GET', `${path}/availableRole`)).body).results
const idOf = (name: string): string => roles.find((role) => role.name === name)?.id ?? ''

async function customRole(
  levels: Record<string, ProjectLevel>,
  clusters: readonly { cluster_id: string; permission: ClusterLevel }[] = [],
): Promise<string> {
  const made = await call(asOwner, 'POST', `${path}/customRole`, { name: `custom ${++count}` })
  const { id } = Object(made.body)
  const edited = await setLevels(id, levels, clusters)
  assert.equal(edited.status, 200, edited.text)
  return id
}
const setLevels = (id: string, levels: Record<string, ProjectLevel>, cluster_permissions: readonly object[] = []) =>
  call(asOwner, 'PUT', `${path}/customRole/${id}`, {
    name: `custom ${++count}`,
    cluster_permissions,
    project_permissions: [
      {
        project_id: projectId,
        permissions: Object.entries(levels).map(([environment_type, permission]) => ({ environment_type, permission })),
      },
    ],
  })
const memberWith = (customRoleId: string) => person({ organizationId: a.organizationId, customRoleId })

test('A13: the tokens that a member made end with the membership', async () => {
  const admin = await person({ organizationId: a.organizationId, role: 'ADMIN' })
  const jwt = await signIn(platform, admin.id)
  const made = Object((await call(jwt, 'POST', `${path}/apiToken`, { name: 'a13', scope: 'READ' })).body)
  assert.equal((await call(made.token, 'GET', path)).status, 200)
  assert.equal((await call(asOwner, 'DELETE', `${path}/member`, { user_id: admin.id })).status, 204)
  assert.equal((await call(made.token, 'GET', path)).status, 401)
  assert.equal((await call(jwt, 'GET', path)).status, 404)
  assert.equal((await call(jwt, 'GET', '/account')).status, 200)
})

test('B12, B13: own tokens for other audiences, of other types or without expiry are refused', async () => {
  for (const change of [
    { aud: 'quayside-console' },
    { aud: 'https://other.example' },
    { iss: publicUrl },
    { iss: `${publicUrl}/oidc` },
    { nonce: 'x' },
    { sub: newId() },
    { sub: undefined },
    { exp: undefined },
  ]) {
    assert.equal((await call(await signIn(platform, owner.id, change), 'GET', '/account')).status, 401)
  }
})

test('B19: a token of an unknown person creates no account', async () => {
  const before = await platform.fingerprint()
  for (const target of ['/account', '/organization', path]) {
    assert.equal((await call(await signIn(platform, newId()), 'GET', target)).status, 401)
  }
  assert.deepEqual(await platform.fingerprint(), before)
})

test('B20, B21: neither an email address nor a claim grants rights', async () => {
  const stranger = await person()
  const claims = {
    email: owner.email,
    email_verified: true,
    admin: true,
    roles: ['OWNER'],
    groups: ['admin'],
    org_id: b.organizationId,
    'https://qovery.com/roles': ['owner'],
  }
  const jwt = await signIn(platform, stranger.id, claims)
  for (const organization of [a.organizationId, b.organizationId]) {
    assert.equal((await call(jwt, 'GET', `/organization/${organization}`)).status, 404)
  }
  assert.deepEqual(Object((await call(jwt, 'GET', '/organization')).body).results, [])
  assert.equal((await call(jwt, 'POST', '/organization', { name: 'mine' })).status, 403)
})

test('B22, C15: a lost membership or a changed role counts at the next request', async () => {
  const member = await person({ organizationId: a.organizationId, role: 'ADMIN' })
  const jwt = await signIn(platform, member.id)
  const edit = () => call(jwt, 'PUT', `/project/${projectId}`, { name: `c15 ${++count}` })
  assert.equal((await edit()).status, 200)
  const become = (role_id: string) => call(asOwner, 'PUT', `${path}/member`, { user_id: member.id, role_id })
  assert.equal((await become(idOf('Viewer'))).status, 200)
  assert.equal((await edit()).status, 403)
  const role = await customRole({ DEVELOPMENT: 'MANAGER' })
  assert.equal((await become(role)).status, 200)
  const write = () => call(jwt, 'PUT', `/application/${applicationId}`, { description: `c15 ${++count}` })
  assert.equal((await write()).status, 200)
  await setLevels(role, { DEVELOPMENT: 'DEPLOYER' })
  assert.equal((await write()).status, 403)
  assert.equal((await call(jwt, 'POST', `/application/${applicationId}/deploy`, {})).status, 202)
  await setLevels(role, { DEVELOPMENT: 'NO_ACCESS' })
  assert.equal((await call(jwt, 'GET', `/application/${applicationId}`)).status, 403)
  assert.equal((await call(asOwner, 'DELETE', `${path}/member`, { user_id: member.id })).status, 204)
  assert.equal((await call(jwt, 'GET', `/application/${applicationId}`)).status, 404)
})

/** A digest of all tokens, invitations and owners. */
async function rights(): Promise<unknown> {
  const { api_token, invitation, organization } = await platform.fingerprint()
  return { api_token, invitation, organization }
}

test('C16: nobody grants more rights than their own', async () => {
  const admin = await signIn(platform, (await person({ organizationId: a.organizationId, role: 'ADMIN' })).id)
  const viewer = await person({ organizationId: a.organizationId, role: 'VIEWER' })
  const before = await rights()
  const asAdmin = async (method: string, target: string, body: object) =>
    (await call(admin, method, `${path}${target}`, body)).status
  assert.equal(await asAdmin('POST', '/apiToken', { name: 'c16', role_id: idOf('Owner') }), 403)
  assert.equal(await asAdmin('POST', '/inviteMember', { email: 'x@a.example', role_id: idOf('Owner') }), 400)
  assert.equal(await asAdmin('POST', '/inviteMember', { email: 'x@a.example', role: 'OWNER' }), 400)
  assert.equal(await asAdmin('PUT', '/member', { user_id: viewer.id, role_id: idOf('Owner') }), 400)
  assert.equal(await asAdmin('PUT', '/member', { user_id: owner.id, role_id: idOf('Viewer') }), 409)
  assert.equal(await asAdmin('DELETE', '/member', { user_id: owner.id }), 409)
  assert.equal(await asAdmin('POST', '/transferOwnership', { user_id: viewer.id }), 403)
  assert.equal((await call(admin, 'DELETE', path)).status, 403)
  const manager = await memberWith(await customRole({ DEVELOPMENT: 'MANAGER', PRODUCTION: 'MANAGER' }))
  const devOps = await person({ organizationId: a.organizationId, role: 'DEVOPS' })
  for (const { id } of [manager, devOps, viewer]) {
    const jwt = await signIn(platform, id)
    for (const [method, target, body] of [
      ['POST', '/apiToken', { name: 'c16', scope: 'READ' }],
      ['POST', '/inviteMember', { email: 'y@a.example' }],
      ['PUT', '/member', { user_id: id, role_id: idOf('Admin') }],
      ['POST', '/customRole', { name: 'c16' }],
    ] as const) {
      assert.equal((await call(jwt, method, `${path}${target}`, body)).status, 403, `${method} ${target}`)
    }
  }
  assert.deepEqual(await rights(), before)
})

test('C16: only a person with the link and the address accepts an invitation, and no token does', async () => {
  const invited = await call(asOwner, 'POST', `${path}/inviteMember`, { email: 'c16@b.example', role: 'ADMIN' })
  const { id, invitation_link } = Object(invited.body)
  const accept = async (token: string, body?: object) =>
    (await call(token, 'POST', `${path}/inviteMember/${id}`, body)).status
  const viewer = await person({ organizationId: a.organizationId, role: 'VIEWER' })
  const stranger = await person()
  assert.equal(await accept(await signIn(platform, viewer.id)), 404)
  assert.equal(await accept(await signIn(platform, stranger.id)), 404)
  assert.equal(await accept(a.tokens.ADMIN), 404)
  assert.equal(await accept(b.tokens.ADMIN), 404)
  for (const token of [a.tokens.ADMIN, b.tokens.ADMIN, await signIn(platform, stranger.id)]) {
    assert.equal(await accept(token, { invitation_link }), 403)
  }
  const right = await addPerson(database, { email: 'C16@B.example' })
  const jwt = await signIn(platform, right.id)
  assert.equal((await call(jwt, 'GET', path)).status, 404)
  assert.equal((await call(jwt, 'GET', `${path}/inviteMember/${id}`)).status, 404)
  for (const body of [undefined, {}, { invitation_link: id }, { invitation_link: `${invitation_link}x` }]) {
    assert.equal(await accept(jwt, body), 404)
  }
  assert.equal(await accept(jwt, { invitation_link }), 201)
  assert.equal((await call(jwt, 'GET', path)).status, 200)
  assert.equal(await accept(jwt, { invitation_link }), 404)
})

test('D: a custom role sees only the projects, environments and modes that it names', async () => {
  const more = await platform.addObjects(a)
  const production = Object(
    (await call(asOwner, 'POST', `/project/${projectId}/environment`, { name: 'prod', mode: 'PRODUCTION' })).body,
  ).id
  const jwt = await signIn(platform, (await memberWith(await customRole({ DEVELOPMENT: 'VIEWER' }))).id)
  const ids = async (target: string): Promise<string[]> =>
    Object((await call(jwt, 'GET', target)).body).results.map(({ id }: { id: string }) => id)
  assert.deepEqual(await ids(`${path}/project`), [projectId])
  const seen = await ids(`/project/${projectId}/environment`)
  assert.deepEqual([seen.includes(environmentId), seen.includes(production)], [true, false])
  for (const target of [
    `/environment/${production}`,
    `/environment/${more.environmentId}`,
    `/application/${more.applicationId}`,
    `/project/${more.projectId}/environment`,
  ]) {
    assert.equal((await call(jwt, 'GET', target)).status, 403, target)
  }
  assert.equal((await call(jwt, 'GET', `/environment/${b.objects.environmentId}`)).status, 404)
})

test('D: environments are created only in modes and on clusters that the role allows', async () => {
  const role = await customRole({ DEVELOPMENT: 'MANAGER', STAGING: 'VIEWER' }, [
    { cluster_id: a.clusterId, permission: 'ENV_CREATOR' },
  ])
  const jwt = await signIn(platform, (await memberWith(role)).id)
  const make = async (mode: string) =>
    (await call(jwt, 'POST', `/project/${projectId}/environment`, { name: `made ${++count}`, mode })).status
  assert.equal(await make('DEVELOPMENT'), 201)
  assert.equal(await make('STAGING'), 403)
  assert.equal(await make('PRODUCTION'), 403)
  await setLevels(role, { DEVELOPMENT: 'MANAGER' }, [{ cluster_id: a.clusterId, permission: 'VIEWER' }])
  assert.equal(await make('DEVELOPMENT'), 403)
})

test('D12: roles, clusters, projects and members of B cannot be named', async () => {
  const theirs = await person({ organizationId: b.organizationId, role: 'VIEWER' })
  const mine = await person({ organizationId: a.organizationId, role: 'VIEWER' })
  const roleOfB = b.objects.more['customRoleId']
  const role = await customRole({})
  const before = await platform.fingerprint()
  const refused: [string, string, object][] = [
    ['PUT', '/member', { user_id: theirs.id, role_id: idOf('Viewer') }],
    ['PUT', '/member', { user_id: mine.id, role_id: roleOfB }],
    ['DELETE', '/member', { user_id: theirs.id }],
    ['POST', '/transferOwnership', { user_id: theirs.id }],
    ['POST', '/inviteMember', { email: 'd12@a.example', role_id: roleOfB }],
    ['POST', '/apiToken', { name: 'd12', role_id: roleOfB }],
  ]
  for (const [method, target, body] of refused) {
    const answer = await call(asOwner, method, `${path}${target}`, body)
    assert.equal(answer.status, 404, answer.text)
    assert.match(answer.text, /user_id|role_id/)
  }
  const edit = (body: object) =>
    call(asOwner, 'PUT', `${path}/customRole/${role}`, {
      name: 'd12',
      cluster_permissions: [],
      project_permissions: [],
      ...body,
    })
  const cluster = await edit({ cluster_permissions: [{ cluster_id: b.clusterId, permission: 'ADMIN' }] })
  assert.match(cluster.text, /cluster_permissions\[0\]\.cluster_id/)
  const project = await edit({ project_permissions: [{ project_id: b.objects.projectId, is_admin: true }] })
  assert.match(project.text, /project_permissions\[0\]\.project_id/)
  assert.deepEqual([cluster.status, project.status], [404, 404])
  assert.deepEqual(await platform.fingerprint(), before)
})

test('tokens have the given role, and their scope is ignored', async () => {
  const role = await customRole({ DEVELOPMENT: 'DEPLOYER' })
  const made = await call(asOwner, 'POST', `${path}/apiToken`, { name: 'role', role_id: role, scope: 'ADMIN' })
  const { token, role_id, scope } = Object(made.body)
  assert.deepEqual([role_id, scope], [role, null])
  assert.equal((await call(token, 'PUT', `/application/${applicationId}`, {})).status, 403)
  assert.equal((await call(token, 'GET', `/application/${applicationId}`)).status, 200)
  assert.equal((await call(token, 'POST', `${path}/apiToken`, { name: 'more', scope: 'READ' })).status, 403)
  const billing = await tokenWithRole(platform, a.organizationId, { builtIn: 'BILLING_MANAGER' })
  assert.equal((await call(billing, 'GET', path)).status, 200)
  assert.deepEqual(Object((await call(billing, 'GET', `${path}/project`)).body).results, [])
  assert.equal((await call(billing, 'GET', `/project/${projectId}`)).status, 403)
  const used = await call(asOwner, 'DELETE', `${path}/customRole/${role}`)
  assert.equal(used.status, 409)
})

test('ownership is transferred, and the previous owner becomes an admin', async () => {
  const next = await person({ organizationId: a.organizationId, role: 'VIEWER' })
  assert.equal((await call(asOwner, 'POST', `${path}/transferOwnership`, { user_id: next.id })).status, 204)
  assert.equal((await call(asOwner, 'POST', `${path}/transferOwnership`, { user_id: owner.id })).status, 403)
  assert.equal(Object((await call(asOwner, 'GET', path)).body).owner, next.id)
  const jwt = await signIn(platform, next.id)
  assert.equal((await call(jwt, 'POST', `${path}/transferOwnership`, { user_id: owner.id })).status, 204)
  assert.equal((await call(jwt, 'PUT', `/project/${projectId}`, { name: 'by an admin' })).status, 200)
})

test('members listed in the settings are added and removed with them, and invited members stay', async (t) => {
  const other = await createPlatform(t)
  const names = async () =>
    (
      await other.database<{ name: string; role: string | null; permissions: string[] }[]>`
        select a.name, m.role, m.permissions from member m join account a on a.id = m.account_id
        where a.name in ('ada', 'bob', 'invited') order by a.name`
    ).map(({ name, role, permissions }) => [name, role, ...permissions].filter(Boolean).join(' '))
  const [first] = await other.database<{ id: string }[]>`select id from organization order by created_at, id limit 1`
  await addPerson(other.database, {
    email: 'invited@a.example',
    member: { organizationId: first?.id ?? '', role: 'VIEWER' },
  })
  const listed = (members: Record<string, readonly ('READ' | 'ADMIN' | 'DEPLOY')[]>) =>
    syncMembers(other.database, systemClock, [
      {
        issuer: 'https://id.example',
        audience: 'x',
        jwksUrl: 'https://id.example/jwks',
        algorithms: ['RS256'],
        members,
      },
    ])
  await listed({ ada: ['ADMIN'], bob: ['DEPLOY'] })
  assert.deepEqual(await names(), ['ada ADMIN', 'bob DEPLOY', 'invited VIEWER'])
  await other.database`update member set role = 'DEVOPS' where role = 'ADMIN'`
  await listed({ ada: ['ADMIN'], bob: ['READ'] })
  assert.deepEqual(await names(), ['ada DEVOPS', 'bob VIEWER', 'invited VIEWER'])
  await listed({ bob: ['READ'] })
  assert.deepEqual(await names(), ['bob VIEWER', 'invited VIEWER'])
})

test('an organization with projects is kept, and an empty one is deleted with everything in it', async () => {
  assert.equal((await call(asOwner, 'DELETE', path)).status, 409)
  const made = await call(asOwner, 'POST', '/organization', { name: `made ${++count}` })
  assert.equal(made.status, 201, made.text)
  const { id, owner: ownerId } = Object(made.body)
  assert.equal(ownerId, owner.id)
  assert.equal(Object((await call(asOwner, 'GET', `/organization/${id}/cluster`)).body).results.length, 1)
  assert.equal((await call(asOwner, 'DELETE', `/organization/${id}`)).status, 204)
  assert.equal((await call(asOwner, 'GET', `/organization/${id}`)).status, 404)
})

test('the git host: members of a project fetch what its services use, and push only what nobody else uses', async () => {
  const origin = await platform.listen()
  for (const name of ['used', 'other'])
    await platform.gitHost.importDirectory(a.organizationId, name, import.meta.dirname, 'x')
  const use = async (name: string, environment: unknown) => {
    const git_repository = { url: `${publicUrl}/git/${name}.git` }
    const made = await call(asOwner, 'POST', `/environment/${environment}/application`, {
      name: newId(),
      git_repository,
    })
    assert.equal(made.status, 201, made.text)
  }
  const environments = await Promise.all(
    ['DEVELOPMENT', 'PRODUCTION'].map(async (mode) => {
      const made = await call(asOwner, 'POST', `/project/${projectId}/environment`, { name: newId(), mode })
      return Object(made.body).id
    }),
  )
  const [development, production] = environments
  await use('used', development)
  await use('other', production)
  const jwt = await signIn(platform, (await memberWith(await customRole({ DEVELOPMENT: 'MANAGER' }))).id)
  const authorization = `Basic ${Buffer.from(`git:${jwt}`).toString('base64')}`
  const answers = (name: string) =>
    Promise.all(
      ['git-upload-pack', 'git-receive-pack'].map(async (service) => {
        const answer = await fetch(`${origin}/git/${name}.git/info/refs?service=${service}`, {
          headers: { authorization },
        })
        const text = await answer.text()
        return answer.ok ? 200 : `${answer.status} ${text.trim()}`
      }),
    )
  assert.deepEqual(await answers('used'), [200, 200])
  assert.deepEqual(await answers('other'), await answers('nobodys'))
  const [fetched, pushed] = await answers('other')
  assert.deepEqual([fetched, /^403 /.test(String(pushed))], ['404 The repository does not exist.', true])
  for (const name of ['Other', '.other', 'other.git', 'o'.repeat(101)]) {
    const [read, written] = await answers(name)
    assert.match(String(read), /^404 The repository does not exist\. .*1 to 100 characters: lower-case letters/, name)
    assert.equal(written, read, name)
  }
  await use('other', development)
  assert.deepEqual(await answers('other'), [200, pushed])
})
