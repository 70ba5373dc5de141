import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { commitOf, senders, zeros } from '../../test/support/git-provider.ts'
import { openGitRemote } from '../../test/support/git-remote.ts'
import { jobBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'

/** `toUpdate`: the services whose branch is ahead of their deployed commit. */
const platform = await createPlatform({ after }, { works: true })
const { a, b, call, database } = platform
const origin = await platform.listen()

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}
const newEnvironment = async (): Promise<string> =>
  (await send('POST', `/project/${a.objects.projectId}/environment`, { name: randomUUID() })).id
async function addApplication(environmentId: string, git_repository: object): Promise<string> {
  const body = { name: randomUUID(), auto_deploy: false, git_repository }
  return (await send('POST', `/environment/${environmentId}/application`, body)).id
}
const listed = async (environmentId: string, kind: string, query: string): Promise<string[]> =>
  (await send('GET', `/environment/${environmentId}/${kind}${query}`)).results.map((one: { id: string }) => one.id)
const behind = (environmentId: string, kind = 'application') => listed(environmentId, kind, '?toUpdate=true')
async function deploy(kind: string, id: string): Promise<void> {
  await send('POST', `/${kind}/${id}/deploy`, {})
  await until('it is deployed', async () => {
    const rows = await database`
      select from service where id = ${id} and state = 'DEPLOYED' and not exists (select from deployment_request q
        join deployment_target t on t.request_id = q.id where t.service_id = service.id and q.finished_at is null)`
    return rows.length === 1
  })
}

test('a service of the built-in git host is listed as behind its branch until it is deployed', async () => {
  const name = `r${randomUUID().slice(0, 8)}`
  const remote = await openGitRemote({ url: `${origin}/git/${name}.git`, token: a.tokens.WRITE })
  after(() => remote.remove())
  const push = (version: string) => remote.push({ Dockerfile: 'FROM scratch\n', name, version })
  const url = `http://localhost:3000/git/${name}.git`
  await push('1')
  const environmentId = await newEnvironment()
  const id = await addApplication(environmentId, { url, branch: 'main' })
  const any = await addApplication(environmentId, { url })
  const source = { docker: { git_repository: { url, branch: 'main' } } }
  const job: string = (await send('POST', `/environment/${environmentId}/job`, jobBody('job', { source }))).id
  assert.deepEqual(await behind(environmentId), [], 'what was never deployed is not behind')
  await deploy('application', id)
  await deploy('application', any)
  await deploy('job', job)
  assert.deepEqual([await behind(environmentId), await behind(environmentId, 'job')], [[], []])
  await remote.git('push', '--quiet', 'origin', 'main:other')
  assert.deepEqual(await behind(environmentId), [], 'another branch')
  await push('2')
  assert.deepEqual([await behind(environmentId), await behind(environmentId, 'job')], [[id, any], [job]])
  await deploy('application', id)
  assert.deepEqual(await behind(environmentId), [any])
  assert.deepEqual(await listed(environmentId, 'application', '?toUpdate=false'), [id, any])
  assert.deepEqual(await behind(environmentId, 'helm'), [])
})

test('a service of another host is behind by the reports of webhooks', async () => {
  const repository = `acme/${randomUUID().slice(0, 8)}`
  const webhook = await send('POST', `/organization/${a.organizationId}/gitWebhook`, { provider: 'GITHUB' })
  const tell = async (before: string, commit: string, branch = 'main') => {
    const facts = { repository, before, after: commit, pusher: randomUUID(), branch }
    const { body, headers } = senders.GITHUB(facts, webhook.secret)
    const answer = await call(undefined, 'POST', new URL(webhook.url).pathname, body, headers)
    assert.equal(answer.status, 202, answer.text)
  }
  const environmentId = await newEnvironment()
  const id = await addApplication(environmentId, { url: `https://github.com/${repository}`, branch: 'main' })
  const has = (commit: string, at = new Date()) => {
    const deployed = { id: commit, branch: 'main', created_at: at.toISOString(), message: '', author_name: '' }
    return database`
      update service set deployed_commit = ${database.json(deployed)}, last_deployment_date = ${at} where id = ${id}`
  }
  const isBehind = async () => (await behind(environmentId)).includes(id)
  const [one, two, three, four] = [commitOf('1'), commitOf('2'), commitOf('3'), commitOf('4')]
  await has(one)
  assert.equal(await isBehind(), false, 'nothing was told')
  await tell(zeros, two, 'next')
  assert.equal(await isBehind(), false, 'another branch')
  await tell(one, two)
  assert.equal(await isBehind(), true)
  await has(two)
  assert.equal(await isBehind(), false)
  await tell(two, three)
  assert.equal(await isBehind(), true)
  await has(one, new Date(Date.now() + 60_000))
  assert.equal(await isBehind(), true, 'a former head was deployed since')
  await has(four, new Date(Date.now() + 60_000))
  assert.equal(await isBehind(), false, 'a newer head was deployed, of which nobody told')
  await has(three)
  await tell(one, two)
  assert.equal(await isBehind(), false, 'told of late')
  const theirs = await call(b.tokens.ADMIN, 'GET', `/environment/${environmentId}/application?toUpdate=true`)
  assert.equal(theirs.status, 404)
})
