import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Stream, streamPaths, streams } from '../../contract/streams.ts'
import { newId } from '../../server/lib/id.ts'
import { goodBody, goodRequest, idsOf, operations, pathOf, queryOf } from '../contract/requests.ts'
import { placeOf, queryOf as queryOfStream } from '../contract/stream-queries.ts'
import { addPerson, tokenWithRole } from '../support/people.ts'
import { createPlatform } from '../support/platform.ts'
import { eventOf, openEvents, openSocket } from '../support/streams.ts'
import { until } from '../support/until.ts'

/**
 * A member furnishes a project of production. Every name in it has a mark, for which all answers to
 * roles without rights there are searched.
 */
const platform = await createPlatform({ after })
const { a, database, call, rooms } = platform
const { organizationId } = a
const origin = await platform.listen()
const mark = 'marmot'
const secretPath = `/services/${mark}-path?key=${mark}-query`
const shortUrl = 'https://hooks.example.com/***'
const objects = await platform.addObjects(a)
const { projectId, environmentId, webhookId, clusterId } = objects

await database`update project set name = ${`${mark}-project`}, description = ${`${mark}-text`} where id = ${projectId}`
await database`
  update environment set name = ${`${mark}-environment`}, mode = 'PRODUCTION' where id = ${environmentId}`
await database`update service set name = ${`${mark}-service-`} || id where environment_id = ${environmentId}`
await database`
  update service set settings = jsonb_set(settings, '{git_repository}', ${database.json({
    url: `http://localhost:3000/git/${mark}-repository.git`,
    branch: 'main',
  })}) where id = ${objects.applicationId}`
await database`
  insert into hosted_repository (organization_id, name) values (${organizationId}, ${`${mark}-repository`})`
const commit = {
  ...{ id: 'b'.repeat(40), created_at: new Date().toISOString(), branch: `${mark}-branch` },
  ...{ message: `${mark}-message`, author_name: `${mark}-author` },
}
await database`
  update service set deployed_commit = ${database.json(commit)} where environment_id = ${environmentId}`
await database`update custom_domain set domain = ${`${mark}-domain.example.com`} where service_id in (
  select id from service where environment_id = ${environmentId})`
await database`update variable set key = ${`${mark}_`} || key where project_id = ${projectId}`
await database`
  update webhook set target_url = ${`https://hooks.example.com${secretPath}`},
    project_names_filter = ${[`${mark}-project`, `${mark}-*`]} where id = ${webhookId}`
await database`
  update container_registry set name = ${`${mark}-registry`} where id = ${objects.more['containerRegistryId'] ?? ''}`
await database`
  update helm_repository set name = ${`${mark}-charts`} where id = ${objects.more['helmRepositoryId'] ?? ''}`
await database`update git_token set name = ${`${mark}-token`} where id = ${objects.gitTokenId}`
await database`update tag_group set name = ${`${mark}-labels`} where id = ${objects.more['labelsGroupId'] ?? ''}`
const payload = {
  project: { id: projectId, name: `${mark}-project` },
  environment: { id: environmentId, name: `${mark}-environment`, mode: 'PRODUCTION' },
  logs: [`${mark}-line`],
}
await database`update event set payload = ${database.json(payload)} where environment_id = ${environmentId}`
await database`
  update webhook_delivery set target_url_used = ${`https://hooks.example.com${secretPath}`},
    response_body = ${`Cannot POST ${secretPath}`}
  where webhook_id = ${webhookId}`

/** Adds a push to a repository, with the services that it deployed. */
async function addPush(key: string): Promise<void> {
  const id = newId()
  await database`insert into workflow (id, kind, key, input, state) values (${id}, 'git push', ${id}, '{}', 'done')`
  await database`
    insert into git_push (id, organization_id, source, repositories, branch, commit, pusher, received_at, handled_at)
    values (${id}, ${organizationId}, ${key.startsWith('/') ? 'BUILT_IN' : 'GITHUB'}, ${[key]}, ${`${mark}-branch`},
      ${'a'.repeat(40)}, ${`${mark}-author`}, now(), now())`
}
await addPush(`/git/${mark}-repository`)
await addPush(`github.com/${mark}-owner/${mark}-outside`)

const roleOf = async (projects: object[]): Promise<string> => {
  const { id } = await rooms.customRoles.create(organizationId, { name: newId() })
  const change = { name: newId(), cluster_permissions: [], project_permissions: projects as [] }
  await rooms.customRoles.edit(organizationId, id, change)
  return tokenWithRole(platform, organizationId, id)
}
const developer = {
  project_id: projectId,
  is_admin: false,
  permissions: [{ environment_type: 'DEVELOPMENT', permission: 'MANAGER' }],
}
const tokens = {
  'a role without projects': await roleOf([]),
  'a manager of development': await roleOf([developer]),
  'a billing manager': await tokenWithRole(platform, organizationId, { builtIn: 'BILLING_MANAGER' }),
}
await addPerson(database, { email: 'other@a.example', member: { organizationId, role: 'DEVOPS' } })

const forServices = 'services are created with it by their names, and it is no part of a project (ADR 0137)'
/** Names that an operation may return to every role, and why. */
const permitted: Readonly<Record<string, readonly [what: RegExp, why: string]>> = {
  listContainerRegistry: [/marmot-registry/g, forServices],
  getContainerRegistry: [/marmot-registry/g, forServices],
  listHelmRepository: [/marmot-charts/g, forServices],
  getHelmRepository: [/marmot-charts/g, forServices],
  listOrganizationGitTokens: [/marmot-token/g, forServices],
  getOrganizationGithubRepositories: [/marmot-token/g, forServices],
  getOrganizationGithubRepositoryBranches: [/marmot-token/g, forServices],
  getOrganizationBitbucketRepositories: [/marmot-token/g, forServices],
  getOrganizationBitbucketRepositoryBranches: [/marmot-token/g, forServices],
  getOrganizationGitToken: [/marmot-token/g, forServices],
  listOrganizationLabelsGroup: [/marmot-labels/g, forServices],
  getOrganizationLabelssGroup: [/marmot-labels/g, forServices],
}

/** A manager of one mode sees the project with its variables. */
const known = (role: string): RegExp =>
  role === 'a manager of development' ? /marmot-(?:project|text)|marmot_PLAIN_PROJECT|marmot_HIDDEN_PROJECT/g : /(?!)/g

const onlyReads = ([, { method, reads }]: (typeof operations)[number]): boolean => method === 'GET' || reads === true
for (const [role, token] of Object.entries(tokens)) {
  test(`no read of the contract tells ${role} about production`, async () => {
    const told: string[] = []
    let answered = 0
    for (const [name, operation] of operations.filter(onlyReads)) {
      const path = pathOf(operation, idsOf(operation, objects)) + queryOf(goodRequest(name, objects))
      const { status, text } = await call(token, operation.method, path, goodBody(name, objects))
      const rest = text.replace(known(role), '').replace(permitted[name]?.[0] ?? /(?!)/g, '')
      const found = new Set(rest.match(/marmot[\w.*-]*/gi))
      if (status < 300) {
        answered++
        for (const id of [environmentId, objects.applicationId]) if (rest.includes(id)) found.add(id)
      }
      if (found.size > 0) told.push(`${name} ${status}: ${[...found].join(' ')}`)
    }
    assert.deepEqual(told, [])
    assert.ok(answered > 60, `${answered} operations answered`)
  })
}

test('the answers of these operations tell an administrator everything, so the search would find it', async () => {
  const names = [
    'listProject',
    'listGitPushes',
    'listOrganizationWebHooks',
    'getOrganizationWebhook',
    'listWebhookEvent',
    'listOrganizationCustomRoles',
    'getOrganizationCustomRole',
    'get-environments-by-cluster-id',
    'getOrganizationAnnotationsGroupAssociatedItems',
    'getOrganizationLabelsGroupAssociatedItems',
    'listServicesByOrganizationId',
    'listEnvironmentsByOrganizationId',
  ]
  for (const [name, operation] of operations.filter(([one]) => names.includes(one))) {
    const { text } = await call(a.tokens.ADMIN, 'GET', pathOf(operation, idsOf(operation, objects)))
    assert.match(text, /marmot/, name)
  }
})

test('a viewer of everything reads deliveries and pushes, but no path of a receiver', async () => {
  const path = `/organization/${organizationId}`
  const read = async (part: string) => (await call(a.tokens.READ, 'GET', `${path}${part}`)).text
  const texts = [await read('/webhook'), await read(`/webhook/${webhookId}`), await read(`/webhook/${webhookId}/event`)]
  for (const text of texts) {
    assert.doesNotMatch(text, /marmot-(?:path|query)/)
    assert.ok(text.includes(shortUrl))
  }
  assert.match(texts.join(), /marmot-project.*marmot-line/)
  assert.match(await read('/gitPush'), /marmot-repository.*marmot-outside|marmot-outside.*marmot-repository/)
})

test('a manager of development reads deliveries and pushes of development only', async () => {
  const token = tokens['a manager of development']
  const part = async (path: string) => (await call(token, 'GET', `/organization/${organizationId}${path}`)).text
  await database`update environment set mode = 'DEVELOPMENT' where id = ${environmentId}`
  try {
    assert.match(await part(`/webhook/${webhookId}/event`), /marmot-line/)
    const pushes = await part('/gitPush')
    assert.match(pushes, /marmot-repository/)
    assert.doesNotMatch(pushes, /marmot-outside/, 'no service uses it')
  } finally {
    await database`update environment set mode = 'PRODUCTION' where id = ${environmentId}`
  }
})

const storedUrl = async (): Promise<unknown> =>
  (await database`select target_url from webhook where id = ${webhookId}`)[0]?.['target_url']
const put = (target_url: string) =>
  call(a.tokens.ADMIN, 'PUT', `/organization/${organizationId}/webhook/${webhookId}`, {
    target_url,
    events: ['DEPLOYMENT_STARTED'],
  })

test('a PUT of the shortened address of a webhook keeps the stored one', async () => {
  const before = await storedUrl()
  const answer = await put(shortUrl)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(await storedUrl(), before)
  assert.equal(Object(answer.body).target_url, before)
})

test('a shortened address of another webhook is refused, and other addresses are stored', async () => {
  const path = `/organization/${organizationId}/webhook`
  const other = 'https://other.example.com/***'
  assert.match((await put(other)).text, /target_url is shortened/)
  const made = await call(a.tokens.ADMIN, 'POST', path, { target_url: shortUrl, events: ['DEPLOYMENT_STARTED'] })
  assert.deepEqual([made.status, /target_url is shortened/.test(made.text)], [400, true])
  const before = await storedUrl()
  for (const address of ['https://hooks.example.com', 'https://hooks.example.com/', 'https://hooks.example.com/new']) {
    assert.equal((await put(address)).status, 200)
    assert.equal(await storedUrl(), address)
  }
  assert.equal((await put(String(before))).status, 200)
})

test('the stream of the organization tells a role without projects nothing about them', async () => {
  const { 'a role without projects': token } = tokens
  const events = await openEvents(origin, `/organization/${organizationId}/stream`, {
    authorization: `Bearer ${token}`,
  })
  await eventOf(events, 'ready')
  const edited = await call(a.tokens.ADMIN, 'PUT', `/environment/${environmentId}`, { name: 'marmot-renamed' })
  assert.equal(edited.status, 200, edited.text)
  assert.equal((await call(a.tokens.ADMIN, 'PUT', `/project/${projectId}`, { name: 'marmot-project' })).status, 200)
  await call(a.tokens.ADMIN, 'POST', `/application/${objects.applicationId}/deploy`, {})
  await put('https://hooks.example.com/marmot-path')
  const end = newId()
  await database`
    insert into state_change (organization_id, cluster_id, type, data)
    values (${organizationId}, ${clusterId}, 'cluster.status', ${database.json({ end })})`
  await until('the change of the cluster', () => events.text().includes(end))
  for (const told of ['marmot', projectId, environmentId, objects.applicationId]) {
    assert.ok(!events.text().includes(told), `${told} in ${events.text()}`)
  }
  events.close()
})

const hasCluster = (path: keyof typeof streams): boolean => {
  const { targets, refuses }: Stream = streams[path]
  return targets.includes('cluster') && refuses === undefined
}
for (const path of streamPaths.filter(hasCluster)) {
  test(`${path} of a cluster tells a role without projects nothing about them`, async () => {
    const query = queryOfStream(streams[path], placeOf({ ...a, objects }), { environment: undefined })
    const open = (token: string) => openSocket(origin, `${path}${query}`, { token })
    const reader = open(tokens['a role without projects'])
    await until('the reader', () => reader.socket.readyState === reader.socket.OPEN)
    const admin = open(a.tokens.ADMIN)
    await until('a message to the administrator', () => admin.messages.length > 0)
    // The answer to a ping follows all messages that were sent before.
    const { promise, resolve } = Promise.withResolvers<void>()
    reader.socket.once('pong', () => resolve())
    reader.socket.ping()
    await promise
    const text = JSON.stringify(reader.messages) + reader.bytes()
    for (const told of ['marmot', projectId, environmentId, objects.applicationId]) {
      assert.ok(!text.includes(told), `${told} in ${text}`)
    }
    for (const { socket } of [reader, admin]) socket.terminate()
  })
}
