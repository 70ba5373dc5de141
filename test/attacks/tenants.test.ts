import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { idsOf, operations, pathOf, unknownId } from '../contract/requests.ts'
import { createPlatform } from '../support/platform.ts'

/** test/contract/access.test.ts covers D1, D2, D16 (each id of each operation). */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const admin = a.tokens.ADMIN
const mine = a.objects
const theirs = b.objects
const more = await platform.addObjects(a)

const valuesOf = (objects: typeof mine): unknown[] =>
  Object.values(objects).flatMap((id) => (typeof id === 'string' ? [id] : Object.values(id)))
// Some path parameters are the same for all organizations: regions, and ids of what cannot exist.
const shared = new Set(valuesOf(mine))
const idsOfB = [b.organizationId, ...valuesOf(theirs)].filter(
  (id) => /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(String(id)) && !shared.has(id),
)
const rowsOfB = () => database`
  select md5(string_agg(t::text, '' order by t::text)) as digest from (
    select to_jsonb(v) as t from variable v where project_id = ${theirs.projectId}
      or environment_id = ${theirs.environmentId} or service_id = ${theirs.applicationId}
    union all select to_jsonb(s) from service s where environment_id = ${theirs.environmentId}
    union all select to_jsonb(g) from git_token g where organization_id = ${b.organizationId}
    union all select to_jsonb(e) from environment e
    where project_id = ${theirs.projectId}) rows`

test('D3: an id of another kind is an unknown id', async () => {
  const wrong = [
    `/environment/${mine.projectId}`,
    `/project/${mine.environmentId}`,
    `/application/${mine.environmentId}`,
    `/organization/${mine.projectId}`,
    `/organization/${a.organizationId}/gitToken/${mine.webhookId}`,
    `/organization/${a.organizationId}/webhook/${mine.gitTokenId}`,
    `/organization/${a.organizationId}/cluster/${mine.projectId}/status`,
  ]
  for (const path of wrong) assert.equal((await call(admin, 'GET', path)).status, 404, path)
})

test('D4: variables and secrets of B cannot be changed or removed through any scope of A', async () => {
  const before = await rowsOfB()
  for (const [scope, id] of [
    ['project', mine.projectId],
    ['environment', mine.environmentId],
    ['application', mine.applicationId],
  ]) {
    for (const target of Object.values(theirs.variables)) {
      const path = `/${scope}/${id}/environmentVariable/${target}`
      assert.equal((await call(admin, 'PUT', path, { key: 'STOLEN', value: 'x' })).status, 404)
      assert.equal((await call(admin, 'DELETE', path)).status, 404)
    }
    for (const target of Object.values(theirs.secrets)) {
      const path = `/${scope}/${id}/secret/${target}`
      assert.equal((await call(admin, 'PUT', path, { key: 'STOLEN', value: 'x' })).status, 404)
      assert.equal((await call(admin, 'DELETE', path)).status, 404)
    }
  }
  assert.deepEqual([...(await rowsOfB())], [...before])
})

test('D8: parent and child must belong together, even if both belong to the caller', async () => {
  for (const [sort, target] of [
    ['environmentVariable', more.variables.service],
    ['secret', more.secrets.service],
  ]) {
    const path = `/application/${mine.applicationId}/${sort}/${target}`
    assert.equal((await call(admin, 'PUT', path, { key: 'MOVED', value: 'x' })).status, 404)
    assert.equal((await call(admin, 'DELETE', path)).status, 404)
  }
  // A variable in place of a secret, and the reverse.
  const crossed = [`secret/${mine.variables.service}`, `environmentVariable/${mine.secrets.service}`]
  for (const path of crossed) {
    assert.equal((await call(admin, 'DELETE', `/application/${mine.applicationId}/${path}`)).status, 404, path)
  }
})

test('D9: a cluster of B is answered like an unknown one', async () => {
  const path = `/project/${mine.projectId}/environment`
  const before = await platform.fingerprint()
  for (const field of ['cluster_id', 'cluster']) {
    const foreign = await call(admin, 'POST', path, { name: 'd9', [field]: b.clusterId })
    const unknown = await call(admin, 'POST', path, { name: 'd9', [field]: unknownId })
    assert.equal(foreign.status, 404)
    assert.equal(foreign.text.replaceAll(b.clusterId, unknownId), unknown.text)
    assert.match(foreign.text, /cluster_id/)
  }
  assert.deepEqual(await platform.fingerprint(), before)
})

test('D11: a git token of B is answered like an unknown one everywhere', async () => {
  const url = 'https://gitlab.com/a/b.git'
  const before = await platform.fingerprint()
  const everywhere = async (git_token_id: string): Promise<string[]> => {
    const repository = { url, git_token_id }
    const answers = [
      await call(admin, 'POST', `/organization/${a.organizationId}/listDirectoriesFromGitRepository`, repository),
      await call(admin, 'POST', `/environment/${mine.environmentId}/application`, {
        name: 'd11',
        git_repository: repository,
      }),
      await call(admin, 'PUT', `/application/${mine.applicationId}`, { git_repository: repository }),
    ]
    for (const { status, text } of answers) assert.equal(status, 404, text)
    return answers.map(({ text }) => text.replaceAll(git_token_id, 'the id'))
  }
  assert.deepEqual(await everywhere(theirs.gitTokenId), await everywhere(unknownId))
  assert.deepEqual(await platform.fingerprint(), before)
})

test('D12: ids of B inside lists have no effect', async () => {
  const before = await rowsOfB()
  const path = `/application/${mine.applicationId}`
  for (const field of ['annotations_groups', 'labels_groups']) {
    assert.equal((await call(admin, 'PUT', path, { [field]: [{ id: theirs.projectId }] })).status, 404)
  }
  const foreign = await database<{ port: string }[]>`
    select settings->'ports'->0->>'id' as port from service where id = ${theirs.applicationId}`
  const storage = { type: 'FAST_SSD', size: 1, mount_point: '/data' }
  await call(b.tokens.ADMIN, 'PUT', `/application/${theirs.applicationId}`, { storage: [storage] })
  const now = await rowsOfB()
  const [theirVolume] = await database<{ id: string }[]>`
    select settings->'storage'->0->>'id' as id from service where id = ${theirs.applicationId}`
  const body = {
    ports: [{ id: foreign[0]?.port, internal_port: 9000, publicly_accessible: false, protocol: 'HTTP' }],
    storage: [{ ...storage, id: theirVolume?.id }],
  }
  const answer = await call(admin, 'PUT', path, body)
  assert.equal(answer.status, 200, answer.text)
  assert.notEqual(Object(answer.body).ports[0].id, foreign[0]?.port)
  assert.notEqual(Object(answer.body).storage[0].id, theirVolume?.id)
  assert.deepEqual([...(await rowsOfB())], [...now])
  assert.notDeepEqual([...now], [...before])
})

test('D14: no list and no object of A contains anything of B, whatever the query', async () => {
  const queries = [
    '',
    '?name=ADMIN',
    '?creatorName=fixture',
    '?tail=10000',
    '?pageSize=20',
    `?version=${theirs.environmentId}-1`,
    '?organizationId=',
    '?toUpdate=false',
  ]
  for (const [name, operation] of operations) {
    if (operation.method !== 'GET') continue
    for (const query of queries) {
      const path = pathOf(operation, idsOf(operation, mine))
      const { status, text } = await call(admin, 'GET', `${path}${query}`)
      assert.ok(status < 500, `${name}${query}: ${text}`)
      for (const id of idsOfB) assert.ok(!text.includes(String(id)), `${name}${query} holds ${id} of B`)
    }
  }
})

test('D15: nobody else gets the lines of B’s services and deployments', async () => {
  for (const path of [
    `/application/${theirs.applicationId}/log?tail=100`,
    `/environment/${theirs.environmentId}/logs`,
  ]) {
    const { status, text } = await call(admin, 'GET', path)
    assert.equal(status, 404)
    assert.ok(!text.includes('results'))
  }
  await call(b.tokens.DEPLOY, 'POST', `/application/${theirs.applicationId}/deploy`, {})
  const theirExecution = `${theirs.environmentId}-1`
  const own = await call(admin, 'GET', `/environment/${mine.environmentId}/logs?version=${theirExecution}`)
  assert.deepEqual([own.status, own.body], [200, []])
})

test('D19: a name that B uses is free in A', async () => {
  const [project] = await database<{ name: string }[]>`select name from project where id = ${theirs.projectId}`
  const answer = await call(admin, 'POST', `/organization/${a.organizationId}/project`, { name: project?.name })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(
    (await call(admin, 'POST', `/organization/${a.organizationId}/project`, { name: project?.name?.toUpperCase() }))
      .status,
    409,
  )
})

test('D22: fields that the server decides are ignored, so a whole record can be sent back', async () => {
  const forged = {
    id: unknownId,
    created_at: '2001-01-01T00:00:00Z',
    updated_at: '2001-01-01T00:00:00Z',
    owner: unknownId,
    plan: 'FREE',
    organization: { id: b.organizationId },
    organization_id: b.organizationId,
    project: { id: theirs.projectId },
    project_id: theirs.projectId,
    environment: { id: theirs.environmentId },
    environment_id: theirs.environmentId,
    billing_deployment_restriction: 'EVERYTHING',
    owned_by: 'somebody',
    associated_services_count: 99,
    state: 'DEPLOYED',
    version: 99,
  }
  const paths = [
    `/organization/${a.organizationId}`,
    `/project/${mine.projectId}`,
    `/environment/${mine.environmentId}`,
    `/application/${mine.applicationId}`,
  ]
  for (const path of paths) {
    const former = Object((await call(admin, 'GET', path)).body)
    const answer = await call(admin, 'PUT', path, { ...former, ...forged })
    assert.equal(answer.status, 200, answer.text)
    const { updated_at: _before, last_updated_by: _by, ...expected } = former
    const { updated_at, last_updated_by: _now, ...rest } = Object((await call(admin, 'GET', path)).body)
    assert.deepEqual(rest, expected)
    assert.ok(!updated_at.startsWith('2001'))
  }
})

test('a kubeconfig without an organization in the path is found only for a cluster of the own organization', async () => {
  const unnamed = '00000000-0000-0000-000000000000'
  const ask = (token: string, id: unknown, organization: unknown) =>
    call(token, 'GET', `/organization/${organization}/cluster/${id}/kubeconfig`)
  const named = await ask(admin, a.clusterId, a.organizationId)
  assert.deepEqual((await ask(admin, a.clusterId, unnamed)).status, named.status)
  assert.notEqual(named.status, 404)
  const foreign = await ask(admin, b.clusterId, unnamed)
  assert.deepEqual(
    [foreign.status, Object(foreign.body).message],
    [404, `The cluster ${b.clusterId} does not exist.`],
    'the message does not name the other organization',
  )
  assert.equal((await ask(admin, unknownId, unnamed)).status, 404)
  assert.equal((await ask(admin, 'garbage', unnamed)).status, 404)
  assert.equal((await ask(a.tokens.READ, a.clusterId, unnamed)).status, 403)
  assert.equal(
    (await call(admin, 'GET', `/organization/${unnamed}/cluster/${a.clusterId}/advancedSettings`)).status,
    404,
  )
})
