import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { builtInRoleId, type Issuer, syncMembers } from '../../server/access/index.ts'
import { systemClock } from '../../server/lib/clock.ts'
import { addPerson, publicUrl, signIn, tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * An API token never has more rights than the person who created it, or who created the token that
 * created it, has now.
 */
const platform = await createPlatform({ after })
const { a, call, database } = platform
const origin = await platform.listen()
const { organizationId, objects } = a
const path = `/organization/${organizationId}`
let count = 0
const person = (role: 'OWNER' | 'ADMIN') =>
  addPerson(database, { email: `p${++count}@a.example`, member: { organizationId, role } })
const owner = await person('OWNER')
const asOwner = await signIn(platform, owner.id)

type RoleName = Parameters<typeof builtInRoleId>[1]
const roleId = (role: RoleName) => builtInRoleId(organizationId, role)
async function become(user_id: string, role_id: string): Promise<void> {
  assert.equal((await call(asOwner, 'PUT', `${path}/member`, { user_id, role_id })).status, 200)
}

interface Wanted {
  readonly scope?: string
  readonly role_id?: string
}
async function makeToken(authorization: string, wanted: Wanted = { scope: 'ADMIN' }): Promise<string> {
  const made = await call(authorization, 'POST', `${path}/apiToken`, { name: `token ${++count}`, ...wanted })
  assert.equal(made.status, 201, made.text)
  return Object(made.body).token
}

const attempts = {
  read: async (token: string) => (await call(token, 'GET', `/application/${objects.applicationId}`)).status,
  deploy: async (token: string) => (await call(token, 'POST', `/application/${objects.applicationId}/deploy`)).status,
  write: async (token: string) =>
    (await call(token, 'PUT', `/application/${objects.applicationId}`, { description: `${++count}` })).status,
  admin: async (token: string) => (await call(token, 'GET', `${path}/events`)).status,
  tokens: async (token: string) =>
    (await call(token, 'POST', `${path}/apiToken`, { name: `more ${++count}`, scope: 'READ' })).status,
}
type Attempt = keyof typeof attempts
/** Returns what the token may do. */
async function may(token: string): Promise<Attempt[]> {
  const allowed: Attempt[] = []
  for (const [name, attempt] of Object.entries(attempts)) {
    const status = await attempt(token)
    assert.ok([200, 201, 202, 403].includes(status), `${name} ${status}`)
    // The names are the keys of the object.
    if (status !== 403) allowed.push(name as Attempt)
  }
  return allowed
}
const all: Attempt[] = ['read', 'deploy', 'write', 'admin', 'tokens']
const ownRights = async (token: string) => Object((await call(token, 'GET', `${path}/ownRights`)).body)

async function customRole(permission: string): Promise<string> {
  const made = await call(asOwner, 'POST', `${path}/customRole`, { name: `custom ${++count}` })
  const { id } = Object(made.body)
  await setLevel(id, permission)
  return id
}
async function setLevel(id: string, permission: string): Promise<void> {
  const permissions = ['DEVELOPMENT', 'PREVIEW', 'STAGING', 'PRODUCTION'].map((environment_type) => {
    return { environment_type, permission }
  })
  const edited = await call(asOwner, 'PUT', `${path}/customRole/${id}`, {
    name: `custom ${++count}`,
    cluster_permissions: [],
    project_permissions: [{ project_id: objects.projectId, permissions }],
  })
  assert.equal(edited.status, 200, edited.text)
}

test('a lowered role lowers the tokens that the person made, and tokens made with these', async () => {
  const admin = await person('ADMIN')
  const jwt = await signIn(platform, admin.id)
  const own = await makeToken(jwt)
  const byToken = await makeToken(own)
  const byThat = await makeToken(byToken, { role_id: roleId('ADMIN') })
  const chain = [own, byToken, byThat]
  for (const token of chain) assert.deepEqual(await may(token), all)
  await become(admin.id, roleId('VIEWER'))
  for (const token of chain) {
    assert.deepEqual(await may(token), ['read'])
    const rights = await ownRights(token)
    assert.deepEqual([rights.is_owner, rights.organization], [false, ['READ']])
  }
  await become(admin.id, roleId('DEVOPS'))
  for (const token of chain) assert.deepEqual(await may(token), ['read', 'deploy', 'write'])
  await become(admin.id, roleId('ADMIN'))
  for (const token of chain) assert.deepEqual(await may(token), all)
  assert.equal((await call(asOwner, 'DELETE', `${path}/member`, { user_id: admin.id })).status, 204)
  for (const token of chain) assert.equal(await attempts.read(token), 401)
})

test('a token has the rights that both it and its creator have', async () => {
  const admin = await person('ADMIN')
  const jwt = await signIn(platform, admin.id)
  const deploys = await makeToken(jwt, { scope: 'DEPLOY' })
  const writes = await makeToken(jwt, { role_id: roleId('DEVOPS') })
  const elsewhere = await makeToken(jwt, { role_id: await customRole('NO_ACCESS') })
  const role = await customRole('MANAGER')
  await become(admin.id, role)
  assert.deepEqual(await may(deploys), ['read', 'deploy'])
  assert.deepEqual(await may(writes), ['read', 'deploy', 'write'])
  assert.equal(await attempts.read(elsewhere), 403)
  await setLevel(role, 'VIEWER')
  assert.deepEqual(await may(deploys), ['read'])
  assert.deepEqual(await may(writes), ['read'])
  const { organization, projects, other_projects } = await ownRights(writes)
  assert.deepEqual([organization, other_projects], [['READ'], []])
  assert.deepEqual(projects[0].permissions, ['READ'])
  await setLevel(role, 'NO_ACCESS')
  assert.equal(await attempts.read(deploys), 403)
  assert.deepEqual(Object((await call(deploys, 'GET', `${path}/project`)).body).results, [])
})

test('a token reads and names no repository of the git host that its creator may not read', async () => {
  await platform.addRepository(a)
  const other = await platform.addObjects(a)
  const admin = await person('ADMIN')
  const token = await makeToken(await signIn(platform, admin.id), { role_id: roleId('DEVOPS') })
  const git_repository = { url: `${publicUrl}/git/hidden.git`, branch: 'main' }
  const hidden = { name: 'hidden', git_repository, healthchecks: {} }
  const made = await call(asOwner, 'POST', `/environment/${other.environmentId}/application`, hidden)
  assert.equal(made.status, 201, made.text)
  const fetchFrom = async (name: string) => {
    const authorization = `Basic ${Buffer.from(`x:${token}`).toString('base64')}`
    const answer = await fetch(`${origin}/git/${name}.git/info/refs?service=git-upload-pack`, {
      headers: { authorization },
    })
    await answer.arrayBuffer()
    return answer.status
  }
  const nameHidden = () => call(token, 'PUT', `/application/${objects.applicationId}`, { git_repository })
  assert.equal(await fetchFrom('hello'), 200)
  const role = await customRole('MANAGER')
  await become(admin.id, role)
  assert.equal(await fetchFrom('hello'), 200)
  const refused = await nameHidden()
  assert.equal(refused.status, 403, refused.text)
  assert.match(refused.text, /hidden/)
  await setLevel(role, 'NO_ACCESS')
  assert.equal(await fetchFrom('hello'), 404)
})

test('a token with the role of the owner ends with the ownership', async () => {
  const next = await person('ADMIN')
  const token = await makeToken(asOwner, { role_id: roleId('OWNER') })
  assert.equal((await ownRights(token)).is_owner, true)
  const transfer = (authorization: string, user_id: string) =>
    call(authorization, 'POST', `${path}/transferOwnership`, { user_id })
  assert.equal((await transfer(asOwner, next.id)).status, 204)
  assert.equal((await ownRights(token)).is_owner, false)
  assert.equal((await transfer(token, owner.id)).status, 403)
  assert.deepEqual(await may(token), all)
  assert.equal((await transfer(await signIn(platform, next.id), owner.id)).status, 204)
  assert.equal((await ownRights(token)).is_owner, true)
})

test('a person whom the settings list with fewer permissions, or no longer, takes tokens along', async () => {
  const issuer = 'https://id.example'
  const listed = (members: Issuer['members']) =>
    syncMembers(database, systemClock, [
      { issuer, audience: 'x', jwksUrl: `${issuer}/jwks`, algorithms: ['RS256'], members },
    ])
  await listed({ ada: ['ADMIN'] })
  const [ada] = await database<{ account_id: string; organization_id: string }[]>`
    select account_id, organization_id from member m join account a on a.id = m.account_id where a.issuer = ${issuer}`
  assert.ok(ada)
  const maker = { name: 'ada', permissions: ['ADMIN' as const], accountId: ada.account_id }
  const made = await platform.rooms.apiTokens.create(ada.organization_id, maker, { name: 'listed', scope: 'ADMIN' })
  const rightsOfToken = async () =>
    Object((await call(made.token, 'GET', `/organization/${ada.organization_id}/ownRights`)).body).organization
  assert.deepEqual(await rightsOfToken(), ['ADMIN'])
  await listed({ ada: ['READ', 'DEPLOY'] })
  assert.deepEqual(await rightsOfToken(), ['READ', 'DEPLOY'])
  await listed({})
  assert.equal((await call(made.token, 'GET', '/organization')).status, 401)
})

test('the end of an account ends its tokens, and tokens that no person made keep their rights', async () => {
  const admin = await person('ADMIN')
  const token = await makeToken(await signIn(platform, admin.id))
  await database`delete from account where id = ${admin.id}`
  assert.equal(await attempts.read(token), 401)
  assert.deepEqual(await may(a.tokens.ADMIN), all)
  assert.deepEqual(await may(await makeToken(a.tokens.ADMIN)), all)
  assert.deepEqual(await may(await tokenWithRole(platform, organizationId, { builtIn: 'OWNER' })), all)
})
