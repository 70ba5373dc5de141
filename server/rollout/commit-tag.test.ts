import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createPlatform } from '../../test/support/platform.ts'
import { until } from '../../test/support/until.ts'
import { run } from '../lib/run.ts'

const platform = await createPlatform({ after }, { works: true })
const { a, call, gitHost } = platform
const { ADMIN: token } = a.tokens

test('a deployment shows the tag of its commit in the service, in its history and in the list of commits', async () => {
  const commit = await platform.addRepository(a)
  const path = gitHost.repositoryPath(a.organizationId, 'hello') ?? ''
  const args = [`--git-dir=${path}`, 'update-ref', 'refs/tags/v1.2.0', commit]
  assert.equal((await run('git', args, { timeoutMs: 10_000, stdin: '' })).exitCode, 0)
  const service = `/application/${a.objects.applicationId}`
  assert.equal((await call(token, 'POST', `${service}/deploy`, {})).status, 202)
  const deployed = await until('the application is deployed', async () => {
    const source = Object(Object((await call(token, 'GET', service)).body).git_repository)
    return source.deployed_commit_id === commit && source
  })
  assert.equal(deployed.deployed_commit_tag, 'v1.2.0')
  const history = Object((await call(token, 'GET', `${service}/deploymentHistoryV2`)).body)
  assert.equal(history.results[0].details.commit.tag, 'v1.2.0')
  assert.ok(!('commit_page_url' in history.results[0].details.commit))
  const commits = Object((await call(token, 'GET', `${service}/commit`)).body)
  assert.equal(commits.results[0].tag, 'v1.2.0')
})
