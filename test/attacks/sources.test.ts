import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ProjectLevel } from '../../contract/roles.ts'
import { newId } from '../../server/lib/id.ts'
import { goodRequest, idsOf, operations, pathOf } from '../contract/requests.ts'
import { tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'

/**
 * The source of an action needs its own rights. A VIEWER of PRODUCTION who is MANAGER of
 * DEVELOPMENT must not copy.
 */
const platform = await createPlatform({ after })
const { a, call, database, rooms } = platform
const { organizationId, clusterId } = a
const source = a.objects
const { projectId } = source
await database`update environment set mode = 'PRODUCTION' where id = ${source.environmentId}`

async function tokenWith(levels: Partial<Record<'PRODUCTION' | 'DEVELOPMENT', ProjectLevel>>): Promise<string> {
  const { id } = await rooms.customRoles.create(organizationId, { name: newId() })
  const modes = ['PRODUCTION', 'DEVELOPMENT'] as const
  const permissions = modes.map((mode) => ({ environment_type: mode, permission: levels[mode] ?? 'NO_ACCESS' }))
  await rooms.customRoles.edit(organizationId, id, {
    name: newId(),
    cluster_permissions: [{ cluster_id: clusterId, permission: 'ENV_CREATOR' }],
    project_permissions: [{ project_id: projectId, is_admin: false, permissions }],
  })
  return tokenWithRole(platform, organizationId, id)
}
const viewer = await tokenWith({ PRODUCTION: 'VIEWER', DEVELOPMENT: 'MANAGER' })
const manager = await tokenWith({ PRODUCTION: 'MANAGER', DEVELOPMENT: 'MANAGER' })
const made = await call(manager, 'POST', `/project/${projectId}/environment`, { name: 'mine', mode: 'DEVELOPMENT' })
assert.equal(made.status, 201, made.text)
const mine = String(Object(made.body).id)

for (const with_data of [false, true]) {
  test(`cloning an environment needs WRITE on the source, with_data ${with_data}`, async () => {
    const body = { name: `stolen ${with_data}`, mode: 'DEVELOPMENT', with_data }
    const path = `/environment/${source.environmentId}/clone`
    const before = await platform.fingerprint()
    assert.equal((await call(viewer, 'POST', path, body)).status, 403)
    assert.deepEqual(await platform.fingerprint(), before)
    const copy = await call(manager, 'POST', path, body)
    assert.equal(copy.status, 202, copy.text)
    // A copy in DEVELOPMENT would make the repositories of its services readable in the tests
    // below.
    await database`delete from environment where id = ${Object(copy.body).id}`
  })
}

const clones = operations.filter(([, { path }]) => path.endsWith('/clone'))
for (const [name, operation] of clones) {
  test(`${name}: VIEWER of the source is not enough`, async () => {
    const body = { name: newId().slice(0, 20), environment_id: mine, mode: 'DEVELOPMENT', with_data: true }
    assert.equal((await call(viewer, operation.method, pathOf(operation, idsOf(operation, source)), body)).status, 403)
  })
}

test('an alias or an override does not carry a variable from one environment into another', async () => {
  const before = await platform.fingerprint()
  const taken = [
    source.variables.environment,
    source.secrets.environment,
    source.variables.service,
    source.secrets.service,
  ]
  for (const id of taken) {
    const alias = { key: 'TAKEN', alias_scope: 'ENVIRONMENT', alias_parent_id: mine }
    assert.equal((await call(viewer, 'POST', `/variable/${id}/alias`, alias)).status, 404)
    const override = { value: 'x', override_scope: 'ENVIRONMENT', override_parent_id: mine }
    assert.equal((await call(viewer, 'POST', `/variable/${id}/override`, override)).status, 404)
    for (const sort of ['environmentVariable', 'secret']) {
      assert.equal(
        (await call(viewer, 'POST', `/environment/${mine}/${sort}/${id}/alias`, { key: 'TAKEN' })).status,
        404,
      )
    }
  }
  assert.deepEqual(await platform.fingerprint(), before)
})

const hello = { url: 'http://localhost:3000/git/hello.git' }
/**
 * Every operation whose valid request names a repository. Operations on an environment use the
 * caller's own one.
 */
const naming = operations.filter(([name]) => JSON.stringify(goodRequest(name, source)).includes('git_repository'))

test('operations that name a repository are found', () => assert.ok(naming.length >= 8, `${naming.length}`))

for (const [name, operation] of naming.filter(
  ([, { target }]) => target === 'environment' || target === 'organization',
)) {
  test(`${name}: a repository used only in unreadable environments cannot be named`, async () => {
    const path = pathOf(operation, idsOf(operation, { ...source, environmentId: mine }))
    const text = JSON.stringify(goodRequest(name, source).body).replaceAll(/git\/\w+\.git/g, 'git/hello.git')
    const blind = await tokenWith({ DEVELOPMENT: 'MANAGER' })
    const before = await platform.fingerprint()
    const answer = await call(blind, operation.method, path, text)
    assert.equal(answer.status, 403, answer.text)
    assert.match(Object(answer.body).message, /hello/)
    assert.deepEqual(await platform.fingerprint(), before)
    assert.notEqual((await call(viewer, operation.method, path, text)).status, 403)
    // The viewer's service would use the repository in an environment that the next caller can
    // read.
    await database`delete from service where environment_id = ${mine}`
  })
}

test('a service is not changed to an unreadable repository', async () => {
  const blind = await tokenWith({ DEVELOPMENT: 'MANAGER' })
  const other = { url: 'http://localhost:3000/git/other.git' }
  const path = `/environment/${mine}/application`
  const { body } = await call(blind, 'POST', path, { name: 'changed', git_repository: other })
  const { id } = Object(body)
  assert.equal((await call(blind, 'PUT', `/application/${id}`, { git_repository: hello })).status, 403)
  assert.equal((await call(manager, 'PUT', `/application/${id}`, { git_repository: hello })).status, 200)
})
