import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'

// Files of a stack are programs of a user. They reach nothing of the platform, and no state but
// their own.

const image = await provideRunnerImage('terraform')
const skip = image === undefined && 'this machine has no terraform'
const version = image?.split(':').at(-1) ?? ''

let server: ServerProcess
let environmentId: string
const stacks: TestStack[] = []

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_TERRAFORM_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-attacks')
})
after(async () => {
  await Promise.all(stacks.map(({ git }) => git.remove()))
  await server?.close()
})

const newStack = async (settings: object = {}): Promise<TestStack> => {
  const stack = await makeStack(server, { environmentId, name: `attack-${stacks.length}`, version, settings })
  stacks.push(stack)
  return stack
}
const states = ({ id }: TestStack) => server.sql`select number from stack_state where service_id = ${id}`

test('an override file of the sources does not take the state from the platform', { skip }, async () => {
  const stack = await newStack()
  const backend = 'terraform {\n  backend "local" {\n    path = "/tmp/elsewhere"\n  }\n}\n'
  const ended = await stack.run({
    'main.tf': `${backend}resource "terraform_data" "one" { input = 1 }\n`,
    'zzz_override.tf': backend,
    '~zzz_override.tf': backend,
  })
  assert.equal(ended.state, 'DEPLOYMENT_ERROR')
  assert.match(ended.reason ?? '', /An override file of the sources replaces the backend of the platform/)
})

test('a run reaches no engine, no control plane and no metadata service', { skip }, async () => {
  const stack = await newStack()
  const port = new URL(server.apiUrl).port
  const targets = [`http://169.254.169.254/`, `http://172.17.0.1:${port}/`, `http://host.docker.internal:${port}/`]
  const probes = targets.map((url, n) => `git -c http.lowSpeedTime=3 ls-remote ${url}x.git >/tmp/${n} 2>&1 && exit 9`)
  const command = ['test ! -e /var/run/docker.sock', ...probes.map((probe) => `! (${probe})`), 'env | sort'].join('\n')
  const ended = await stack.run({
    'main.tf': `resource "terraform_data" "one" {
  provisioner "local-exec" {
    interpreter = ["/bin/sh", "-ec"]
    command     = <<-EOT
${command}
    EOT
  }
}
`,
  })
  assert.deepEqual(ended, { state: 'DEPLOYED', reason: null })
})

test('a value that looks like a flag is a value', { skip }, async () => {
  const tf_vars = [{ key: 'text', value: '-destroy; $(touch /tmp/x)\n-state=/x', secret: false }]
  const stack = await newStack({
    terraform_variables_source: { tf_var_file_paths: [], tf_vars },
    action_extra_arguments: { plan: ['-var=other=-destroy'] },
  })
  const ended = await stack.run({
    'main.tf': `
variable "text" { type = string }
variable "other" { type = string }
resource "terraform_data" "one" { input = "\${var.text}|\${var.other}" }
`,
  })
  assert.deepEqual(ended, { state: 'DEPLOYED', reason: null })
  const { results } = await server.must<{ results: { attributes: { input: string } }[] }>(
    'GET',
    `/terraform/${stack.id}/terraformResources`,
  )
  assert.equal(results[0]?.attributes.input, '-destroy; $(touch /tmp/x)\n-state=/x|-destroy')
})

test('variables of the environment do not redirect the run', { skip }, async () => {
  const stack = await newStack()
  for (const [key, value] of [
    ['TF_CLI_ARGS_apply', '-state-out=/tmp/elsewhere'],
    ['TF_WORKSPACE', 'elsewhere'],
  ]) {
    await server.must('POST', '/variable', {
      key,
      value,
      is_secret: false,
      variable_scope: 'TERRAFORM',
      variable_parent_id: stack.id,
    })
  }
  const ended = await stack.run({ 'main.tf': 'resource "terraform_data" "one" { input = 1 }\n' })
  assert.deepEqual(ended, { state: 'DEPLOYED', reason: null })
  assert.equal((await states(stack)).length, 1)
})

test('a state that is too long is not kept, and the deployment says so', { skip }, async () => {
  const stack = await newStack()
  const line = 'x'.repeat(10_000)
  const ended = await stack.run({
    'main.tf': `
locals { text = join("", [for n in range(1000) : "${line}"]) }
resource "terraform_data" "one" { input = local.text }
`,
  })
  assert.equal(ended.state, 'DEPLOYMENT_ERROR')
  assert.match(ended.reason ?? '', /^The state that it wrote cannot be kept: it is longer than 16 MiB\./)
  assert.equal((await states(stack)).length, 0)
  const next = await stack.run({ 'main.tf': '' })
  assert.match(next.reason ?? '', /^The stack is locked: its run \S+ ended without its last state/)
})

test('arguments that would escape are refused when the settings are written', { skip }, async () => {
  await assert.rejects(
    newStack({ action_extra_arguments: { apply: ['-state=/etc/passwd'] } }),
    /400.*action_extra_arguments/,
  )
})
