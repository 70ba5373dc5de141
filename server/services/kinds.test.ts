import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { containerBody, databaseBody, jobBody, terraformBody } from '../../test/support/objects/kinds.ts'
import { createPlatform } from '../../test/support/platform.ts'

/** Services of every kind through the API: what is stored, answered, copied and kept secret. */
const platform = await createPlatform({ after })
const { a, b, call, database } = platform
const { environmentId } = a.objects
const must = async (method: string, path: string, body?: object, status = 200) => {
  const answer = await call(a.tokens.ADMIN, method, path, body)
  assert.equal(answer.status, status, answer.text)
  return Object(answer.body)
}
const registryOf = async (organizationId: string): Promise<string> => {
  const [row] = await database<
    { id: string }[]
  >`select id from container_registry where organization_id = ${organizationId}`
  return row?.id ?? ''
}

test('the record of a container shows its registry', async () => {
  const registryId = await registryOf(a.organizationId)
  const record = await must('POST', `/environment/${environmentId}/container`, containerBody('web', registryId), 201)
  assert.equal(record.service_type, 'CONTAINER')
  assert.equal(record.registry.id, registryId)
  assert.equal(record.registry.kind, 'DOCKER_HUB')
  assert.equal(record.maximum_gpu, 0)
  const links = await must('GET', `/container/${record.id}/link`)
  assert.match(links.results[0].url, /^http:\/\/web-/)
  const all = await must('GET', `/environment/${environmentId}/link`)
  assert.ok(all.results.some((link: { service_id: string }) => link.service_id === record.id))
})

test('a registry of another organization is not found', async () => {
  const body = containerBody('foreign', await registryOf(b.organizationId))
  const answer = await call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/container`, body)
  assert.equal(answer.status, 404)
  assert.match(answer.text, /registry_id: the container registry [0-9a-f-]{36} does not exist/)
})

test('each kind is in its stage, and names are unique across kinds', async () => {
  const rows = await database<{ kind: string; stage: string }[]>`
    select s.kind, g.name as stage from service s join deployment_stage g on g.id = s.stage_id
    where s.environment_id = ${environmentId} and s.name like any(array['container-%', 'database-%', 'job-%',
    'helm-%', 'terraform-%'])`
  const stages = Object.fromEntries(rows.map(({ kind, stage }) => [kind, stage]))
  assert.deepEqual(stages, {
    container: 'DEFAULT CONTAINER',
    database: 'DEFAULT DATABASE',
    job: 'DEFAULT JOB',
    helm: 'DEFAULT APPLICATION',
    terraform: 'DEFAULT JOB',
  })
  await must('POST', `/environment/${environmentId}/job`, jobBody('taken'), 201)
  const again = await call(a.tokens.ADMIN, 'POST', `/environment/${environmentId}/database`, databaseBody('Taken'))
  assert.equal(again.status, 409)
})

test('a service is found only by the path of its kind', async () => {
  const { jobId = '' } = a.objects.more
  assert.equal((await call(a.tokens.ADMIN, 'GET', `/helm/${jobId}`)).status, 404)
})

test('answers with a discriminator have one member', async () => {
  const { jobId, helmId, terraformId } = a.objects.more
  const job = await must('GET', `/job/${jobId}`)
  assert.deepEqual(Object.keys(job.source), ['docker'])
  assert.equal(job.job_type, 'CRON')
  assert.deepEqual(Object.keys(job.schedule), ['cronjob'])
  assert.deepEqual(Object.keys((await must('GET', `/helm/${helmId}`)).source), ['git'])
  const terraform = await must('GET', `/terraform/${terraformId}`)
  assert.deepEqual(terraform.backend, { kubernetes: {} })
  assert.equal(terraform.terraform_files_source.git.git_repository.owner, 'git')
})

test('the credentials of a database are its own, sealed, and need more than read permission', async () => {
  const { databaseId } = a.objects.more
  const path = `/database/${databaseId}/masterCredentials`
  assert.equal((await call(a.tokens.READ, 'GET', path)).status, 403)
  const { host, port, login, password } = await must('GET', path)
  assert.deepEqual([port, login], [5432, 'root'])
  assert.match(password, /^[A-Za-z0-9]{32}$/)
  assert.equal((await must('GET', `/database/${databaseId}`)).host, host)
  const [row] = await database`select sealed_value from service_secret where service_id = ${databaseId ?? ''}`
  assert.ok(row && !row['sealed_value'].includes(password))
  const copy = await must(
    'POST',
    `/database/${databaseId}/clone`,
    { name: 'a copy', environment_id: environmentId },
    202,
  )
  const other = await must('GET', `/database/${copy.id}/masterCredentials`)
  assert.notEqual(other.password, password)
})

test('the type of a database cannot change', async () => {
  const { databaseId } = a.objects.more
  const answer = await call(a.tokens.ADMIN, 'PUT', `/database/${databaseId}`, { type: 'REDIS' })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /type must stay POSTGRESQL/)
})

test('a secret variable of a stack is never answered, is kept by an empty value, and is copied', async () => {
  const source = (value: string) => ({
    terraform_variables_source: { tf_var_file_paths: [], tf_vars: [{ key: 'token', value, secret: true }] },
  })
  const body = terraformBody('secretive', source('SECRET-VALUE'))
  const record = await must('POST', `/environment/${environmentId}/terraform`, body, 201)
  assert.ok(!JSON.stringify(record).includes('SECRET-VALUE'))
  await must('PUT', `/terraform/${record.id}`, source(''))
  const sealed = (id: string) => database`select sealed_value from service_secret where service_id = ${id}`
  assert.equal((await sealed(record.id)).length, 1)
  const copy = await must(
    'POST',
    `/terraform/${record.id}/clone`,
    { name: 'secretive 2', environment_id: environmentId },
    202,
  )
  const [first, second] = [await sealed(record.id), await sealed(copy.id)]
  assert.equal(second.length, 1)
  assert.notEqual(first[0]?.['sealed_value'], second[0]?.['sealed_value'])
  await must('PUT', `/terraform/${record.id}`, { terraform_variables_source: { tf_var_file_paths: [], tf_vars: [] } })
  assert.equal((await sealed(record.id)).length, 0)
})

test('a copy has the settings and variables of the original, and its own hosts', async () => {
  const { applicationId } = a.objects
  const copy = await must(
    'POST',
    `/application/${applicationId}/clone`,
    { name: 'Copy', environment_id: environmentId },
    202,
  )
  const original = await must('GET', `/application/${applicationId}`)
  assert.equal(copy.git_repository.url, original.git_repository.url)
  assert.notEqual(copy.ports[0].id, original.ports[0].id)
  const keys = async (id: string) => {
    const { results } = await must('GET', `/application/${id}/environmentVariable`)
    return results
      .filter((one: { scope: string }) => one.scope === 'APPLICATION')
      .map((one: { key: string }) => one.key)
  }
  assert.deepEqual(await keys(copy.id), await keys(applicationId))
  const status = await must('GET', `/application/${copy.id}/status`)
  assert.equal(status.service_deployment_status, 'NEVER_DEPLOYED')
})

test('nothing is copied into the environment of another organization', async () => {
  const body = { name: 'stolen', environment_id: b.objects.environmentId }
  const answer = await call(a.tokens.ADMIN, 'POST', `/application/${a.objects.applicationId}/clone`, body)
  assert.equal(answer.status, 404)
  assert.match(answer.text, /environment_id: the environment [0-9a-f-]{36} does not exist/)
})

test('the git token of a job counts as used', async () => {
  const { gitTokenId } = a.objects
  await database`update git_token set git_api_url = 'https://gitlab.com' where id = ${gitTokenId}`
  const git_repository = { url: 'https://gitlab.com/a/b.git', git_token_id: gitTokenId }
  const record = await must(
    'POST',
    `/environment/${environmentId}/job`,
    { ...jobBody('with a token'), source: { docker: { git_repository } } },
    201,
  )
  assert.equal(record.source.docker.git_repository.provider, 'GITLAB')
  assert.equal(
    (await call(a.tokens.ADMIN, 'DELETE', `/organization/${a.organizationId}/gitToken/${gitTokenId}`)).status,
    409,
  )
  const unknown = { git_repository: { ...git_repository, git_token_id: '0190ffff-ffff-7fff-bfff-ffffffffffff' } }
  const refused = await call(a.tokens.ADMIN, 'PUT', `/job/${record.id}`, { source: { docker: unknown } })
  assert.equal(refused.status, 404)
})
