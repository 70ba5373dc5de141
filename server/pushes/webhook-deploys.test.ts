import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { commitOf, hosts, type PushFacts, senders, zeros } from '../../test/support/git-provider.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { readPayload } from './payloads.ts'

/**
 * Deployments that messages of git providers start: requests with the commit. No git server is
 * contacted.
 */
const platform = await createPlatform({ after }, { works: true })
const { a, b, call, database } = platform

type Provider = keyof typeof senders
type Tenant = typeof a
const send = async (method: string, path: string, body?: object, tenant: Tenant = a) => {
  const answer = await call(tenant.tokens.ADMIN, method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}

async function addApplication(url: string, git: object = {}, tenant: Tenant = a): Promise<string> {
  const { id: environmentId } = await send(
    'POST',
    `/project/${tenant.objects.projectId}/environment`,
    { name: randomUUID() },
    tenant,
  )
  const body = { name: 'app', auto_deploy: true, git_repository: { url, branch: 'main', ...git } }
  return (await send('POST', `/environment/${environmentId}/application`, body, tenant)).id
}

async function tell(provider: Provider, facts: PushFacts, tenant: Tenant = a): Promise<string> {
  const made = await send('POST', `/organization/${tenant.organizationId}/gitWebhook`, { provider }, tenant)
  const { body, headers } = senders[provider](facts, made.secret)
  const answer = await call(undefined, 'POST', new URL(made.url).pathname, body, headers)
  assert.equal(answer.status, 202, answer.text)
  return made.id
}

const handled = async (commit: string, tenant: Tenant = a): Promise<Map<string, Record<string, unknown>>> => {
  const push = await until(`the push of ${commit} is handled`, async () => {
    const { results } = await send('GET', `/organization/${tenant.organizationId}/gitPush`, undefined, tenant)
    return results.find((one: Record<string, unknown>) => one['git_commit_id'] === commit && one['handled_at'])
  })
  return new Map(push.services.map((one: Record<string, unknown>) => [String(one['service_id']), one]))
}

let made = 0
/** Returns a commit id that no other test uses. */
const newCommit = (): string => (++made).toString(16).padStart(40, 'c')

for (const provider of ['GITHUB', 'GITLAB', 'BITBUCKET'] as const) {
  test(`${provider}: a push deploys the services of that repository and branch in that organization, at its commit`, async () => {
    const name = `acme/${provider.toLowerCase()}`
    const url = `https://${hosts[provider]}/${name}`
    const follows = [
      await addApplication(`${url}.git`),
      await addApplication(url.toUpperCase().replace('HTTPS', 'https')),
    ]
    const not = [
      await addApplication(`${url}-two.git`),
      await addApplication(url, { branch: 'next' }),
      await addApplication(`https://git.example.org/${name}`),
      await addApplication(url, {}, b),
    ]
    const commit = newCommit()
    const webhookId = await tell(provider, { repository: name, before: commitOf('a'), after: commit, pusher: 'Grace' })
    const found = await handled(commit)
    assert.deepEqual([...found.keys()].toSorted(), follows.toSorted())
    assert.ok(not.every((id) => !found.has(id)))
    const rows = await database`
      select t.wanted_commit, r.origin, r.triggered_by, r.id from deployment_target t
      join deployment_request r on r.id = t.request_id where t.service_id = any(${follows}::uuid[])`
    assert.equal(rows.length, 2)
    for (const row of rows) {
      assert.deepEqual([row['wanted_commit'], row['origin'], row['triggered_by']], [commit, 'GIT', 'Grace'])
    }
    const { results } = await send('GET', `/organization/${a.organizationId}/gitWebhook`)
    const listed = results.find((one: { id: string }) => one.id === webhookId)
    assert.equal(listed.last_delivery_status, 'ACCEPTED')
    assert.ok(listed.last_delivery_at)
  })
}

test('GITHUB: the listed files decide, and a list that may be truncated counts as everything', async () => {
  const repository = 'acme/mono'
  const id = await addApplication(`https://github.com/${repository}`, { root_path: 'apps/a' })
  const result = async (facts: Partial<PushFacts>) => {
    const commit = newCommit()
    await tell('GITHUB', { repository, before: commitOf('a'), after: commit, ...facts })
    return (await handled(commit)).get(id)?.['result']
  }
  assert.equal(await result({ files: ['apps/b/x.js'] }), 'LEFT_OUT')
  assert.equal(await result({ files: ['apps/b/x.js', 'apps/a/x.js'] }), 'DEPLOYED')
  const many = Array.from({ length: 300 }, (_, index) => `apps/b/${index}`)
  assert.equal(await result({ files: many, before: zeros }), 'DEPLOYED')
})

test('a push that is reported late does not deploy an older commit, but a push back to it does', async () => {
  const repository = 'acme/late'
  const id = await addApplication(`https://github.com/${repository}`)
  const [one, two, three, four] = [newCommit(), newCommit(), newCommit(), newCommit()]
  const told = async (before: string, commit: string, result: string) => {
    await tell('GITHUB', { repository, before, after: commit })
    const found = await until(`${result} of ${commit}`, async () => {
      const { results } = await send('GET', `/organization/${a.organizationId}/gitPush`)
      const [last] = results
      return last.git_commit_id === commit && last.handled_at !== null ? last : undefined
    })
    assert.equal(found.services.find((service: { service_id: string }) => service.service_id === id).result, result)
  }
  await told(two, three, 'DEPLOYED')
  await told(one, two, 'LEFT_OUT')
  await told(three, four, 'DEPLOYED')
  await told(four, three, 'DEPLOYED')
})

test('every service with a repository shows whether its pushes are reported', async () => {
  const status = async (id: string, tenant: Tenant = a) =>
    (await send('GET', `/service/${id}/gitWebhookStatus`, undefined, tenant)).status
  assert.equal(await status(a.objects.applicationId), 'ACTIVE')
  const theirs = await addApplication('https://bitbucket.org/acme/unheard', {}, b)
  await database`delete from git_webhook where organization_id = ${b.organizationId} and provider = 'BITBUCKET'`
  assert.equal(await status(theirs, b), 'NOT_CONFIGURED')
  await send('POST', `/organization/${b.organizationId}/gitWebhook`, { provider: 'BITBUCKET' }, b)
  assert.equal(await status(theirs, b), 'UNABLE_TO_VERIFY')
  await tell('BITBUCKET', { repository: 'acme/unheard', branch: 'other', after: newCommit() }, b)
  assert.equal(await status(theirs, b), 'ACTIVE')
})

test('lists of changed files count only where they are whole', () => {
  const facts = { repository: 'acme/mono', before: commitOf('a'), after: commitOf('b'), files: ['x'] }
  const pathsOf = (change: Partial<PushFacts>) => {
    const told = readPayload('GITHUB', JSON.parse(senders.GITHUB({ ...facts, ...change }, '').body))
    assert.ok(!('ignored' in told))
    return told.pushes[0]?.paths
  }
  const commit = { added: ['a'], removed: ['b'], modified: ['c', 'a'] }
  assert.deepEqual(pathsOf({}), ['x'])
  assert.deepEqual(pathsOf({ change: { commits: [commit, commit] } }), ['a', 'b', 'c'])
  assert.equal(pathsOf({ forced: true }), undefined)
  assert.equal(pathsOf({ before: zeros }), undefined)
  assert.equal(pathsOf({ change: { commits: Array.from({ length: 2000 }, () => commit) } }), undefined)
  assert.equal(pathsOf({ files: Array.from({ length: 300 }, (_, index) => `${index}`) }), undefined)
  assert.equal(pathsOf({ change: { commits: [{ added: ['a'] }] } }), undefined)
  assert.equal(pathsOf({ change: { commits: 'all' } }), undefined)
})

test('without the name of a pusher, the author of the commit is shown', () => {
  const facts = { repository: 'acme/mono', after: commitOf('b') }
  const pusherOf = (provider: Provider, change: object) => {
    const told = readPayload(provider, JSON.parse(senders[provider]({ ...facts, change: { ...change } }, '').body))
    assert.ok(!('ignored' in told))
    return told.pushes[0]?.pusher
  }
  assert.equal(pusherOf('GITHUB', { pusher: null }), 'Ada')
  assert.equal(pusherOf('BITBUCKET', { actor: null }), 'Ada')
  assert.equal(pusherOf('GITLAB', { user_name: null }), 'ada')
  assert.equal(pusherOf('GITLAB', { user_name: null, user_username: null }), 'Somebody')
})
