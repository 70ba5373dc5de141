import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'
import { until } from '../support/until.ts'

// Settings of stacks on a real engine: their Dockerfile, files of variables, pushes, copies.

const image = await provideRunnerImage('opentofu')
const skip = image === undefined && 'this machine has no tofu'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
const stacks: TestStack[] = []

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-settings')
})
after(async () => {
  await Promise.all(stacks.map(({ git }) => git.remove()))
  await server?.close()
})

const newStack = async (settings: object = {}, at = environmentId): Promise<TestStack> => {
  const name = `settings-${stacks.length}`
  const all = { engine: 'OPEN_TOFU', ...settings }
  const stack = await makeStack(server, { environmentId: at, name, version, settings: all })
  stacks.push(stack)
  return stack
}
const deployed = { state: 'DEPLOYED', reason: null }
const inputs = async (id: string): Promise<unknown[]> => {
  const { results } = await server.must<{ results: { attributes: { input: unknown } }[] }>(
    'GET',
    `/terraform/${id}/terraformResources`,
  )
  return results.map(({ attributes }) => attributes.input)
}
const runs = ({ id }: TestStack) =>
  server.sql<{ action: string; status: string }[]>`
    select action, status from stack_run where service_id = ${id} order by created_at`

test('the available versions are those of the configured images', { skip }, async () => {
  const { results } = await server.must<{ results: object[] }>('GET', '/terraform/availableVersion')
  assert.deepEqual(results, [{ engine: 'OPEN_TOFU', version }])
})

/** A resource that is only created if this file is in the image. */
const needs = (path: string) => `
resource "terraform_data" "one" {
  provisioner "local-exec" { command = "test -f ${path}" }
}
`

test('an inline fragment of a Dockerfile is part of the image', { skip }, async () => {
  const stack = await newStack({ dockerfile_fragment: { type: 'inline', content: 'RUN touch /inline-marker' } })
  assert.deepEqual(await stack.run({ 'main.tf': needs('/inline-marker') }), deployed)
})

test('a fragment of the repository is part of the image, and a missing one is named', { skip }, async () => {
  const stack = await newStack({ dockerfile_fragment: { type: 'file', path: 'docker/more' } })
  assert.deepEqual(
    await stack.run({ 'main.tf': needs('/file-marker'), 'docker/more': 'RUN touch /file-marker\n' }),
    deployed,
  )
  const { state, reason } = await stack.run({ 'main.tf': needs('/file-marker') })
  assert.equal(state, 'BUILD_ERROR')
  assert.match(reason ?? '', /The file of dockerfile_fragment, docker\/more, is not in the commit/)
})

test('files of variables of the root module are used in their order', { skip }, async () => {
  const source = { tf_var_file_paths: ['vars/first.tfvars', '/vars/second file.tfvars'], tf_vars: [] }
  const repository = (stack: TestStack) => ({ url: stack.git.url, branch: 'main', root_path: '/stacks/a' })
  const stack = await newStack({ terraform_variables_source: source })
  await server.must('PUT', `/terraform/${stack.id}`, {
    terraform_files_source: { git_repository: repository(stack) },
  })
  const ended = await stack.run({
    'stacks/a/main.tf': `
variable "a" { type = string }
variable "b" { type = string }
resource "terraform_data" "one" { input = "\${var.a} \${var.b}" }
`,
    'stacks/a/vars/first.tfvars': 'a = "first"\nb = "first"\n',
    'stacks/a/vars/second file.tfvars': 'b = "second"\n',
  })
  assert.deepEqual(ended, deployed)
  assert.deepEqual(await inputs(stack.id), ['first second'])
})

test('a push applies, only plans, or does nothing, as the stack is set', { skip }, async () => {
  const stack = await newStack({ auto_deploy_config: { auto_deploy: true, terraform_action: 'DEFAULT' } })
  const push = async (text: string): Promise<string> =>
    stack.git.push({ 'main.tf': `resource "terraform_data" "one" { input = "${text}" }\n` })
  /** Waits until the push is handled, and returns the runs that the stack has then. */
  const handled = async (commit: string): Promise<string[]> => {
    await until('the push is handled', async () => {
      const [row] = await server.sql`select id from git_push where commit = ${commit} and handled_at is not null`
      return row
    })
    await stack.settles()
    return (await runs(stack)).map(({ action, status }) => `${action} ${status}`)
  }
  const set = (terraform_action: string) =>
    server.must('PUT', `/terraform/${stack.id}`, { auto_deploy_config: { auto_deploy: true, terraform_action } })
  assert.deepEqual(await handled(await push('first')), ['APPLY SUCCESS'])
  assert.deepEqual(await inputs(stack.id), ['first'])
  await set('PLAN')
  assert.deepEqual(await handled(await push('second')), ['APPLY SUCCESS', 'PLAN SUCCESS'])
  assert.deepEqual(await inputs(stack.id), ['first'])
  const [event] = await server.sql<{ event_type: string }[]>`
    select event_type from audit_event where target_id = ${stack.id} and event_type = 'TRIGGER_DEPLOY_DRY_RUN'`
  assert.ok(event)
  await set('NOOP')
  assert.deepEqual(await handled(await push('third')), ['APPLY SUCCESS', 'PLAN SUCCESS'])
})

test('a push outside of the paths of a deployment restriction deploys nothing', { skip }, async () => {
  const stack = await newStack({ auto_deploy_config: { auto_deploy: true, terraform_action: 'DEFAULT' } })
  await server.must('POST', `/terraform/${stack.id}/deploymentRestriction`, {
    mode: 'MATCH',
    type: 'PATH',
    value: 'stacks/',
  })
  const main = 'resource "terraform_data" "one" { input = 1 }\n'
  const results = async (commit: string): Promise<string[]> =>
    until('the push is handled', async () => {
      const rows = await server.sql<{ result: string }[]>`
        select p.result from git_push_service p join git_push q on q.id = p.push_id
        where q.commit = ${commit} and p.service_id = ${stack.id}`
      return rows.length > 0 ? rows.map(({ result }) => result) : undefined
    })
  const outside = await results(await stack.git.push({ 'main.tf': main, 'README.md': 'more' }))
  assert.deepEqual(outside, ['LEFT_OUT'])
  assert.equal((await runs(stack)).length, 0)
  const inside = await results(await stack.git.push({ 'main.tf': main, 'stacks/a.tf': '' }))
  assert.deepEqual(inside, ['DEPLOYED'])
  assert.deepEqual(await stack.settles(), deployed)
})

test('a copy of an environment has a state of its own and nothing of the original', { skip }, async () => {
  const at = await makeEnvironment(server, 'original')
  const stack = await newStack({}, at)
  const main = {
    'main.tf': 'resource "terraform_data" "one" { input = 1 }\noutput "id" { value = terraform_data.one.id }\n',
  }
  assert.deepEqual(await stack.run(main), deployed)
  await server.must('PUT', `/terraform/${stack.id}/driftPolicy`, { cron_at: '0 4 * * *' })
  const copy = await server.must<{ id: string }>('POST', `/environment/${at}/clone`, { name: 'copy' })
  const id = await until('the stack is copied', async () => {
    const { results } = await server.must<{ results: { id: string }[] }>('GET', `/environment/${copy.id}/terraform`)
    return results[0]?.id
  })
  assert.notEqual(id, stack.id)
  for (const list of ['state', 'run', 'terraformResources']) {
    assert.deepEqual(await server.must('GET', `/terraform/${id}/${list}`), { results: [] })
  }
  const policy = await server.must<{ cron_at: string | null }>('GET', `/terraform/${id}/driftPolicy`)
  assert.equal(policy.cron_at, null)
  const outputs = await server.sql<{ key: string }[]>`select key from service_output where service_id = ${id}`
  assert.equal(outputs.length, 0)
  await server.must('POST', `/terraform/${id}/deploy`, {})
  await until('the copy is deployed', async () => {
    const [row] = await server.sql`select id from service where id = ${id} and state = 'DEPLOYED'`
    return row
  })
  const lineages = await server.sql<{ lineage: string }[]>`
    select lineage from stack_state where service_id = any(${[id, stack.id]}::uuid[])`
  assert.equal(new Set(lineages.map(({ lineage }) => lineage)).size, 2)
  await server.must('DELETE', `/terraform/${id}`)
  await until('the copy is gone', async () => {
    const [row] = await server.sql`select id from service where id = ${id}`
    return row ? undefined : true
  })
  await stack.deploy()
  assert.deepEqual(await stack.settles(), deployed)
  assert.match((await stack.log()).join('\n'), /The plan changes nothing/)
})
