import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { type GitRemote, openGitRemote } from '../../test/support/git-remote.ts'
import { jobBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { armFailpoints } from '../lib/failpoint.ts'

/** Pushes with the real git to the built-in git host, and the deployments that they start. */
const platform = await createPlatform({ after }, { works: true })
const { a, call, builder, database } = platform
const origin = await platform.listen()
const dockerfile = { Dockerfile: 'FROM scratch\n' }

const send = async (method: string, path: string, body?: object) => {
  const answer = await call(a.tokens.ADMIN, method, path, body, { 'x-state-dialect': 'full' })
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`)
  return Object(answer.body)
}

async function openRepository(): Promise<GitRemote & { readonly name: string; readonly address: string }> {
  const name = `r${randomUUID().slice(0, 8)}`
  const remote = await openGitRemote({ url: `${origin}/git/${name}.git`, token: a.tokens.WRITE })
  after(() => remote.remove())
  // Equal trees of the same second would be the same commit in every repository.
  const push: GitRemote['push'] = (tree, message) => remote.push({ ...tree, '.name': name }, message)
  return { ...remote, push, name, address: `http://localhost:3000/git/${name}.git` }
}

async function addEnvironment(): Promise<string> {
  const { id } = await send('POST', `/project/${a.objects.projectId}/environment`, { name: `e-${randomUUID()}` })
  return id
}

async function addApplication(
  url: string,
  git: object = {},
  settings: object = {},
  environmentId?: string,
): Promise<string> {
  const { id } = await send('POST', `/environment/${environmentId ?? (await addEnvironment())}/application`, {
    name: `s${randomUUID().slice(0, 8)}`,
    git_repository: { url, branch: 'main', ...git },
    auto_deploy: true,
    ...settings,
  })
  return id
}

const atRest = (id: string) =>
  until(`${id} is settled`, async () => {
    const status = await send('GET', `/application/${id}/status`)
    return status.deployment_request_id === null && status.deployment_requests_count === 0 && status
  })

/** Waits until the push of that commit was handled, and returns its result for each service. */
const handled = (commit: string) =>
  until(`the push of ${commit} is handled`, async () => {
    const { results } = await send('GET', `/organization/${a.organizationId}/gitPush`)
    return results.find((push: Record<string, unknown>) => push['git_commit_id'] === commit && push['handled_at'])
  })
const results = async (commit: string): Promise<Map<string, Record<string, unknown>>> => {
  const push = await handled(commit)
  return new Map(push.services.map((one: Record<string, unknown>) => [String(one['service_id']), one]))
}
const deployedCommits = async (id: string): Promise<string[]> => {
  const { results } = await send('GET', `/application/${id}/deploymentHistoryV2`)
  return results.map(
    (entry: { details: { commit: { git_commit_id: string } | null } }) => entry.details.commit?.git_commit_id,
  )
}

/** Ends the deployment whose build never ends, so that the waiting ones continue. */
async function cancelRunning(id: string): Promise<void> {
  const [running] = await database<{ id: string }[]>`
    select r.id from deployment_request r join deployment_target t on t.request_id = r.id
    where t.service_id = ${id} and r.status = 'ONGOING'`
  await send('POST', `/deploymentQueue/${running?.id}/cancelDeployment`)
}

test('a push deploys its commit, and history and audit log name the pusher', async () => {
  const repository = await openRepository()
  const id = await addApplication(repository.address)
  const commit = await repository.push(dockerfile, 'The first version')
  const result = (await results(commit)).get(id)
  assert.deepEqual([result?.['result'], result?.['reason']], ['DEPLOYED', null])
  assert.equal((await atRest(id)).state, 'DEPLOYED')
  const [entry] = (await send('GET', `/application/${id}/deploymentHistoryV2`)).results
  assert.deepEqual(
    [entry.auditing_data.origin, entry.auditing_data.triggered_by, entry.status],
    ['GIT', 'WRITE', 'DEPLOYED'],
  )
  const { git_commit_id, message, author_name } = entry.details.commit
  assert.deepEqual([git_commit_id, message, author_name], [commit, 'The first version', 'Ada'])
  const { events } = await send(
    'GET',
    `/organization/${a.organizationId}/events?targetId=${id}&eventType=TRIGGER_DEPLOY`,
  )
  assert.deepEqual([events.length, events[0].origin, events[0].triggered_by], [1, 'GIT', 'WRITE'])
  assert.equal(JSON.parse(events[0].change).git_commit_id, commit)
})

test('a push ignores other branches, other repositories and services without auto_deploy', async () => {
  const [repository, other] = [await openRepository(), await openRepository()]
  const off = await addApplication(repository.address, {}, { auto_deploy: false })
  const never = await addApplication(repository.address, {}, { auto_deploy: null })
  const elsewhere = await addApplication(other.address)
  const release = await addApplication(repository.address, { branch: 'release' })
  const first = await repository.push(dockerfile)
  assert.deepEqual([...(await results(first)).keys()], [])
  await repository.git('push', '--quiet', 'origin', 'main:release')
  await until('the branch is deployed', async () => (await deployedCommits(release))[0] === first)
  for (const id of [off, never, elsewhere]) assert.deepEqual(await deployedCommits(id), [])
})

test('only services below whose root path something changed are deployed, by restrictions where there are some', async () => {
  const repository = await openRepository()
  const files = { 'a/Dockerfile': 'FROM scratch\n', 'b/Dockerfile': 'FROM scratch\n', 'docs/x.md': '1' }
  const ofA = await addApplication(repository.address, { root_path: '/a' })
  const ofB = await addApplication(repository.address, { root_path: 'b' })
  const matching = await addApplication(repository.address, { root_path: 'b' })
  const excluding = await addApplication(repository.address, {}, { dockerfile_path: 'a/Dockerfile' })
  const restrict = (id: string, mode: string, value: string) =>
    send('POST', `/application/${id}/deploymentRestriction`, { mode, type: 'PATH', value })
  await restrict(matching, 'MATCH', 'docs')
  await restrict(excluding, 'EXCLUDE', 'docs/')
  const meanings = async (commit: string) => {
    const found = await results(commit)
    return [ofA, ofB, matching, excluding].map((id) => found.get(id)?.['result'])
  }
  const first = await repository.push(files)
  assert.deepEqual(await meanings(first), ['DEPLOYED', 'DEPLOYED', 'DEPLOYED', 'DEPLOYED'], 'a new branch is all new')
  const second = await repository.push({ ...files, 'a/main.js': '1' })
  assert.deepEqual(await meanings(second), ['DEPLOYED', 'LEFT_OUT', 'LEFT_OUT', 'DEPLOYED'])
  const third = await repository.push({ ...files, 'a/main.js': '1', 'docs/x.md': '2' })
  assert.deepEqual(await meanings(third), ['LEFT_OUT', 'LEFT_OUT', 'DEPLOYED', 'LEFT_OUT'])
  const reasons = await results(third)
  assert.match(String(reasons.get(ofA)?.['reason']), /No changed file is below its root path "\/a"/)
  assert.match(String(reasons.get(excluding)?.['reason']), /excluded by its deployment restrictions/)
  const empty = await repository.push({ ...files, 'a/main.js': '1', 'docs/x.md': '2' })
  assert.deepEqual(await meanings(empty), ['DEPLOYED', 'DEPLOYED', 'DEPLOYED', 'DEPLOYED'], 'an empty commit')
  for (const id of [ofA, ofB, matching, excluding]) await atRest(id)
})

test('one push deploys every environment that follows the branch, each with its own request', async () => {
  const repository = await openRepository()
  const environmentId = await addEnvironment()
  const [one, two] = [
    await addApplication(repository.address, {}, {}, environmentId),
    await addApplication(repository.address, {}, {}, environmentId),
  ]
  const far = await addApplication(repository.address)
  const commit = await repository.push(dockerfile)
  const found = await results(commit)
  const requests = [one, two, far].map((id) => found.get(id)?.['deployment_request_id'])
  assert.equal(requests[0], requests[1])
  assert.notEqual(requests[0], requests[2])
  for (const id of [one, two, far]) {
    assert.equal((await atRest(id)).state, 'DEPLOYED')
    assert.deepEqual(await deployedCommits(id), [commit])
  }
})

test('K10: pushes during a deployment wait as one request, which deploys the newest', async () => {
  const repository = await openRepository()
  const id = await addApplication(repository.address)
  builder.tell(id, { type: 'hang' })
  const commits = [await repository.push(dockerfile)]
  await until('the first one builds', async () => (await send('GET', `/application/${id}/status`)).state === 'BUILDING')
  for (let version = 1; version <= 4; version++) {
    commits.push(await repository.push({ ...dockerfile, version: `${version}` }))
  }
  await handled(commits.at(-1) ?? '')
  const status = await send('GET', `/application/${id}/status`)
  assert.equal(status.deployment_requests_count, 1)
  builder.tell(id, { type: 'succeed' })
  await cancelRunning(id)
  assert.equal((await atRest(id)).state, 'DEPLOYED')
  assert.deepEqual(await deployedCommits(id), [commits.at(-1), commits[0]])
})

test('a push does not start a stopped service and reports the reason', async () => {
  const repository = await openRepository()
  const id = await addApplication(repository.address)
  await handled(await repository.push(dockerfile))
  await atRest(id)
  await send('POST', `/application/${id}/stop`)
  await atRest(id)
  const found = (await results(await repository.push({ ...dockerfile, two: '' }))).get(id)
  assert.deepEqual([found?.['result'], found?.['reason']], ['LEFT_OUT', 'It is stopped; deploy it to start it.'])
  assert.equal((await atRest(id)).state, 'STOPPED')
})

test('a commit that has left its branch before its turn is not deployed, and no other is', async () => {
  const repository = await openRepository()
  const id = await addApplication(repository.address)
  builder.tell(id, { type: 'hang' })
  const first = await repository.push(dockerfile)
  await until('the first one builds', async () => (await send('GET', `/application/${id}/status`)).state === 'BUILDING')
  const gone = await repository.push({ ...dockerfile, gone: '' })
  await handled(gone)
  await send('PUT', `/application/${id}`, { auto_deploy: false })
  await repository.git('commit', '--quiet', '--amend', '--message', 'another one')
  await repository.git('push', '--quiet', '--force', 'origin', 'main')
  builder.tell(id, { type: 'succeed' })
  await cancelRunning(id)
  const { state, reason } = await atRest(id)
  assert.equal(state, 'BUILD_ERROR')
  assert.match(reason, new RegExp(`Commit ${gone} is not on the branch "main"`))
  assert.deepEqual(await deployedCommits(id), [undefined, first])
})

for (const [what, change] of [
  ['another history', ['push', '--quiet', '--force', 'origin', 'HEAD:main']],
  ['nothing', ['push', '--quiet', 'origin', ':main']],
] as const) {
  test(`a branch that becomes ${what} after its commit was pinned has no effect: that commit or none is deployed`, async () => {
    const repository = await openRepository()
    const id = await addApplication(repository.address, {}, { auto_deploy: false })
    const commit = await repository.push(dockerfile)
    await repository.git('checkout', '--quiet', '--orphan', 'other')
    await repository.git('commit', '--quiet', '--allow-empty', '--message', 'another one')
    const held = Promise.withResolvers<void>()
    const isHeld = Promise.withResolvers<void>()
    const holding = database.begin(async (sql) => {
      await sql`lock table release in exclusive mode`
      isHeld.resolve()
      await held.promise
    })
    await isHeld.promise
    await send('POST', `/application/${id}/deploy`, {})
    await until('the commit is pinned', async () => {
      const rows = await database`
        select from workflow_step s join deployment_target t on t.request_id = s.workflow_id
        where t.service_id = ${id} and s.name like '%/PIN' and s.status = 'SUCCESS'`
      return rows.length === 1
    })
    await repository.git(...change)
    held.resolve()
    await holding
    const { state, reason } = await atRest(id)
    const [row] = await database<{ commits: string[] }[]>`
      select array_agg(commit->>'id') as commits from release where service_id = ${id}`
    assert.deepEqual(row?.commits, [commit])
    assert.ok(
      state === 'DEPLOYED' || (state === 'BUILD_ERROR' && /no longer has this commit/.test(reason)),
      `${state} ${reason}`,
    )
  })
}

test('a service without a branch follows main, or master where that is the default', async () => {
  const repository = await openRepository()
  const id = await addApplication(repository.address, { branch: null })
  await repository.git('checkout', '--quiet', '-b', 'master')
  await repository.git('commit', '--quiet', '--allow-empty', '--message', 'on master')
  await repository.git('push', '--quiet', 'origin', 'master')
  const onMaster = await repository.git('rev-parse', 'HEAD')
  assert.equal((await results(onMaster)).get(id)?.['result'], 'DEPLOYED')
})

test('a job that is built from the repository is deployed with the commit', async () => {
  const repository = await openRepository()
  const source = {
    docker: { git_repository: { url: repository.address, branch: 'main' }, dockerfile_path: 'Dockerfile' },
  }
  const environmentId = await addEnvironment()
  const { id } = await send('POST', `/environment/${environmentId}/job`, {
    ...jobBody('sweeper', { source }),
    auto_deploy: true,
  })
  const commit = await repository.push(dockerfile)
  assert.equal((await results(commit)).get(id)?.['result'], 'DEPLOYED')
  const job = await until('the job is deployed', async () => {
    const status = await send('GET', `/job/${id}/status`)
    return status.state === 'DEPLOYED' && send('GET', `/job/${id}`)
  })
  assert.equal(job.source.docker.git_repository.deployed_commit_id, commit)
})

test('charts that cannot run report the reason', async () => {
  const repository = await openRepository()
  const environmentId = await addEnvironment()
  const { id } = await send('POST', `/environment/${environmentId}/helm`, {
    name: 'chart',
    auto_deploy: true,
    source: { git_repository: { url: repository.address, branch: 'main' } },
    arguments: [],
    values_override: {},
  })
  const found = (await results(await repository.push(dockerfile))).get(id)
  assert.equal(found?.['result'], 'REFUSED')
  assert.match(String(found?.['reason']), /Helm charts need Kubernetes/)
})

test('a push that could not be recorded is found again once, with its pusher', async (t) => {
  const repository = await openRepository()
  const id = await addApplication(repository.address)
  await handled(await repository.push(dockerfile))
  armFailpoints('push.received:throw')
  t.after(() => armFailpoints(undefined))
  const commit = await repository.push({ ...dockerfile, two: '' })
  assert.equal((await results(commit)).get(id)?.['result'], 'DEPLOYED')
  assert.ok(platform.logged.some((line) => line.includes('its branches will be compared again')))
  const rows = await database`select pusher from git_push where commit = ${commit}`
  assert.deepEqual(
    rows.map((row) => row['pusher']),
    ['WRITE'],
  )
  await atRest(id)
})

test('a first push that git refuses leaves no record of its repository, and a later push makes it', async () => {
  const repository = await openRepository()
  const command = `${'0'.repeat(40)} ${'1'.repeat(40)} refs/heads/main\0report-status\n`
  const body = `${(command.length + 4).toString(16).padStart(4, '0')}${command}0000PACK is missing`
  const authorization = `Basic ${Buffer.from(`any:${a.tokens.WRITE}`).toString('base64')}`
  const headers = { authorization, 'content-type': 'application/x-git-receive-pack-request' }
  const answer = await fetch(`${repository.url}/git-receive-pack`, { method: 'POST', headers, body })
  assert.match(await answer.text(), /unpack .*(?:error|pack)|ng refs/)
  const known = () => database`select from hosted_repository where name = ${repository.name}`
  await until('the record is gone', async () => (await known()).length === 0)
  await addApplication(repository.address)
  await handled(await repository.push(dockerfile))
  assert.equal((await known()).length, 1)
})

test('a pusher decides what runs: WRITE is enough, READ and DEPLOY are not', async () => {
  const repository = await openRepository()
  const id = await addApplication(repository.address)
  for (const token of [a.tokens.READ, a.tokens.DEPLOY]) {
    const remote = await openGitRemote({ url: repository.url, token })
    after(() => remote.remove())
    await assert.rejects(remote.push(dockerfile), /403/)
  }
  assert.deepEqual(await deployedCommits(id), [])
  assert.equal((await results(await repository.push(dockerfile))).get(id)?.['result'], 'DEPLOYED')
  await atRest(id)
})

test('repositories with the same name in two organizations are different', async () => {
  const repository = await openRepository()
  const { environmentId } = platform.b.objects
  const body = { name: 'theirs', auto_deploy: true, git_repository: { url: repository.address, branch: 'main' } }
  const made = await call(platform.b.tokens.ADMIN, 'POST', `/environment/${environmentId}/application`, body)
  assert.equal(made.status, 201, made.text)
  await handled(await repository.push(dockerfile))
  const requests = await database`select from deployment_target where service_id = ${Object(made.body).id}`
  assert.equal(requests.length, 0)
  const seen = await call(platform.b.tokens.ADMIN, 'GET', `/organization/${platform.b.organizationId}/gitPush`)
  assert.ok(!seen.text.includes(repository.name))
})
