import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type Lab, makeLab } from '../support/lab.ts'
import { provideLabImage } from '../support/lab-provider/build.ts'
import { placesOf } from '../support/secret-search.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, type TestStack } from '../support/stack.ts'

// Stacks that fail on a real engine. Each failure has a reason that names what to mend, keeps the
// state, and shows no secret.

const image = await provideLabImage('opentofu')
const skip = image === undefined && 'this machine has no tofu or no Go'
const version = image?.split(':').at(-1) ?? ''
const secret = 'canary-failing-secret'

let server: ServerProcess
let environmentId: string
let lab: Lab
const stacks: TestStack[] = []

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  environmentId = await makeEnvironment(server, 'stack-failures')
  lab = await makeLab(server, environmentId)
})
after(async () => {
  await Promise.all([...stacks.map(({ git }) => git.remove()), lab?.application.git.remove()])
  await server?.close()
})

const newStack = async (settings: object = {}): Promise<TestStack> => {
  const name = `failing-${stacks.length}`
  const all = { engine: 'OPEN_TOFU', ...settings }
  const stack = await makeStack(server, { environmentId, name, version, settings: all })
  stacks.push(stack)
  return stack
}
const withSecret = {
  terraform_variables_source: {
    tf_var_file_paths: [],
    tf_vars: [{ key: 'password', value: secret, secret: true }],
  },
}
const providers = `
terraform {
  required_providers {
    lab = { source = "quayside.test/quayside/lab" }
  }
}
`
const document = (name: string, content = '"content"', more = '') => `
resource "lab_document" "${name}" {
  url     = "${lab.inside(name)}"
  content = ${content}
  ${more}
}
`
const fails = async (stack: TestStack, text: string): Promise<string> => {
  const { state, reason } = await stack.run({ 'main.tf': text })
  assert.equal(state, 'DEPLOYMENT_ERROR')
  return reason ?? ''
}
const versions = ({ id }: TestStack) => server.sql`select number from stack_state where service_id = ${id}`
/** Puts a program in front of the engine that answers `show -json` of a state with this script. */
const showing = (script: string) => ({
  dockerfile_fragment: {
    type: 'inline',
    content: [
      'RUN mv /usr/local/bin/tofu /usr/local/bin/real-tofu',
      `RUN printf '#!/bin/sh\\n[ "$*" = "show -json" ] || exec real-tofu "$@"\\n%s\\n' \\`,
      `  ${quoted(script)} >/usr/local/bin/tofu`,
      'RUN chmod 755 /usr/local/bin/tofu',
    ].join('\n'),
  },
})
const quoted = (text: string): string => `'${text}'`

test('a syntax error is reported with its file and line', { skip }, async () => {
  const reason = await fails(await newStack(), 'resource "terraform_data" "one" {\n  input = 1\n')
  assert.match(reason, /^The stack could not initialize\. .*\(main\.tf line \d\)/)
})

test('a missing provider is reported with its source', { skip }, async () => {
  const text = 'terraform {\n  required_providers {\n    none = { source = "quayside.test/none/none" }\n  }\n}\n'
  const reason = await fails(await newStack(), text)
  assert.match(reason, /^The stack could not initialize\. .*quayside\.test\/none\/none/)
})

test('a missing variable is reported with its name', { skip }, async () => {
  const reason = await fails(await newStack(), 'variable "region" { type = string }\n')
  assert.match(reason, /^The stack could not make a plan\. No value for required variable \(main\.tf line 1\)/)
  assert.match(reason, /"region"/)
})

test('a missing file of variables is reported with its path', { skip }, async () => {
  const stack = await newStack({ terraform_variables_source: { tf_var_file_paths: ['none.tfvars'], tf_vars: [] } })
  assert.match(await fails(stack, ''), /^The stack could not make a plan\. .*none\.tfvars/)
})

test('a failed destroy keeps the record with its reason, and can be repeated', { skip }, async () => {
  const stack = await newStack()
  const tree = { 'main.tf': providers + document('kept') + document('gone') }
  assert.deepEqual(await stack.run(tree), { state: 'DEPLOYED', reason: null })
  await lab.refuse('DELETE', true)
  await server.must('DELETE', `/terraform/${stack.id}`)
  const failed = await stack.settles()
  await lab.refuse('DELETE', false)
  assert.equal(failed.state, 'DELETE_ERROR')
  assert.match(failed.reason ?? '', /^The stack could not apply its plan\. The document could not be deleted/)
  assert.equal(await lab.read('kept'), 'content')
  await server.must('DELETE', `/terraform/${stack.id}`)
  assert.deepEqual(await stack.settles(), { state: 'GONE', reason: null })
  assert.deepEqual([await lab.read('kept'), await lab.read('gone')], [undefined, undefined])
})

test('an apply that fails half-way keeps what it created in the state', { skip }, async () => {
  const stack = await newStack()
  const second = document('second').replace('content =', 'depends_on = [lab_document.first]\n  content =')
  const refused = second.replace(lab.inside('second'), 'http://127.0.0.1:1/')
  const reason = await fails(stack, providers + document('first') + refused)
  assert.match(reason, /The document could not be written/)
  assert.equal((await versions(stack)).length, 1)
  assert.deepEqual(await stack.run({ 'main.tf': providers + document('first') + second }), {
    state: 'DEPLOYED',
    reason: null,
  })
  assert.match((await stack.log()).join('\n'), /The plan: 1 to create, 0 to change/)
})

test('a provider that prints a secret shows it nowhere', { skip }, async () => {
  const stack = await newStack(withSecret)
  const text = `${providers}
variable "password" {
  type      = string
  sensitive = true
}
${document('loud', 'var.password', 'loud = true')}
`
  assert.deepEqual(await stack.run({ 'main.tf': text }), { state: 'DEPLOYED', reason: null })
  await lab.refuse('PUT', true)
  const reason = await fails(stack, text.replaceAll('"loud"', '"louder"'))
  await lab.refuse('PUT', false)
  assert.match(reason, /The document could not be written/)
  const texts = await server.sql<{ text: string }[]>`
    select reason as text from deployment_target where service_id = ${stack.id} and reason is not null
    union all select reason from stack_run where service_id = ${stack.id} and reason is not null
    union all select plan::text from stack_run where service_id = ${stack.id} and plan is not null
    union all select change from audit_event where target_id = ${stack.id}
    union all select attributes::text from stack_resource where service_id = ${stack.id}`
  assert.ok(texts.length > 4)
  assert.doesNotMatch(JSON.stringify(texts), /canary-failing-secret/)
  assert.doesNotMatch((await stack.log()).join('\n'), /canary-failing-secret/)
  assert.doesNotMatch(server.output.join('\n'), /canary-failing-secret/)
  const history = await server.must('GET', `/terraform/${stack.id}/deploymentHistoryV2`)
  assert.doesNotMatch(JSON.stringify(history), /canary-failing-secret/)
})

test('a secret that the files do not call sensitive shows in no plan, resource or output', { skip }, async () => {
  const stack = await newStack(withSecret)
  const text = `${providers}
variable "password" { type = string }
output "password" { value = "of \${var.password}" }
output "open" { value = "open" }
${document('careless', 'var.password')}
`
  assert.deepEqual(await stack.run({ 'main.tf': text }), { state: 'DEPLOYED', reason: null })
  const path = `/terraform/${stack.id}`
  const { results } = await server.must<{ results: { id: string }[] }>('GET', `${path}/run`)
  const plan = await server.must('GET', `${path}/run/${results[0]?.id}/plan`)
  assert.match(JSON.stringify(plan), /"after":"\\"\*+\\""/)
  const resources = await server.must('GET', `${path}/terraformResources`)
  assert.doesNotMatch(JSON.stringify([plan, resources]), /canary-failing-secret/)
  const outputs = await server.sql<{ key: string; is_secret: boolean }[]>`
    select key, is_secret from service_output where service_id = ${stack.id} order by key`
  assert.deepEqual(
    outputs.map(({ key, is_secret }) => [key, is_secret]),
    [
      ['open', false],
      ['password', true],
    ],
  )
})

test('a secret of many words shows in no line, although the engine breaks its lines', { skip }, async () => {
  const words = 'canary-one horse battery staple, and more words than a line of the engine has: canary-two canary-three'
  const tf_vars = [{ key: 'password', value: words, secret: true }]
  const stack = await newStack({ terraform_variables_source: { tf_var_file_paths: [], tf_vars } })
  await lab.refuse('PUT', true)
  const reason = await fails(
    stack,
    `${providers}
variable "password" {
  type      = string
  sensitive = true
}
${document('wordy', 'var.password', 'loud = true')}
`,
  )
  await lab.refuse('PUT', false)
  assert.match(reason, /A loud document/)
  assert.doesNotMatch(reason, /canary-/)
  assert.doesNotMatch((await stack.log()).join('\n'), /canary-/)
  // The lines of the service are files of the data directory.
  assert.deepEqual(await placesOf('canary-two', server, stack.id), [])
})

test('a state of a newer engine is refused by the engine, and its reason is shown', { skip }, async () => {
  const backend = `terraform {\n  backend "http" { address = "${lab.inside('newer')}" }\n}\n`
  const newer = { version: 5, terraform_version: '99.0.0', serial: 3, lineage: 'newer', outputs: {}, resources: [] }
  await lab.write('newer', JSON.stringify(newer))
  const stack = await newStack({ backend: { user_provided: {} } })
  const reason = await fails(stack, `${backend}resource "terraform_data" "one" {}\n`)
  assert.match(reason, /^The stack could not initialize\. .*format version 5, which is not supported/)
  assert.match((await lab.read('newer')) ?? '', /"lineage":"newer"/)
})

test('a damaged state in the backend of the files is reported and kept', { skip }, async () => {
  const backend = `terraform {\n  backend "http" { address = "${lab.inside('damaged')}" }\n}\n`
  await lab.write('damaged', '{"version": 4, "serial": ')
  const stack = await newStack({ backend: { user_provided: {} } })
  const reason = await fails(stack, `${backend}resource "terraform_data" "one" {}\n`)
  assert.match(reason, /^The stack could not (?:initialize|make a plan)\. /)
  assert.equal(await lab.read('damaged'), '{"version": 4, "serial": ')
})

test('a damaged state of the platform is not kept, and the stack is locked', { skip }, async () => {
  const stack = await newStack(showing('real-tofu show -json; echo "{" >/quayside-run/left/terraform.tfstate'))
  const reason = await fails(stack, 'resource "terraform_data" "one" { input = 1 }\n')
  assert.match(reason, /^The state that it wrote is damaged/)
  // The state from before the damage may have been kept while the apply ran.
  assert.ok((await versions(stack)).length <= 1)
  assert.match(await fails(stack, ''), /^The stack is locked/)
})

const deep = 't="["; i=0; while [ $i -lt 17 ]; do t="$t$t"; i=$((i + 1)); done; echo "$t"'
for (const [what, script] of Object.entries({ 'are no JSON': 'echo no JSON', 'are nested deeply': deep })) {
  test(`resources that ${what} do not lose the state`, { skip }, async () => {
    const stack = await newStack(showing(script))
    const reason = await fails(stack, 'resource "terraform_data" "one" { input = 1 }\n')
    assert.match(reason, /^The resources cannot be read/)
    assert.equal((await versions(stack)).length, 1)
  })
}
