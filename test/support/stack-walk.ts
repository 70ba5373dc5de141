import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeApplication, type TestApplication } from './application.ts'
import type { ServerProcess } from './server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from './stack.ts'
import type { OpenStackPlace, StackPlace } from './stack-place.ts'
import { get } from './traffic.ts'
import { web } from './trees.ts'

/** The settings of the engines of stacks. */
export const stackEngines = {
  terraform: { setting: 'QUAYSIDE_TERRAFORM_IMAGE', engine: 'TERRAFORM' },
  opentofu: { setting: 'QUAYSIDE_OPENTOFU_IMAGE', engine: 'OPEN_TOFU' },
} as const

const tree = (text: string) => ({
  'main.tf': `
variable "text" { type = string }
variable "password" {
  type      = string
  sensitive = true
}
resource "terraform_data" "one" { input = "\${var.text} ${text}" }
resource "terraform_data" "hidden" { input = var.password }
output "URL" { value = terraform_data.one.output }
output "pass-word" {
  value     = terraform_data.hidden.output
  sensitive = true
}
output "list" { value = ["a", 1] }
`,
})
/** Two runs and their application fit on a node with two cores. */
const small = { job_resources: { cpu_milli: 200, ram_mib: 512, gpu: 0, storage_gib: 1 } }
const secret = 'canary-stack-secret'

/**
 * A stack of an engine from its settings to its resources and back, wherever the place runs it.
 * Plans are shown and applied, outputs reach an application of the same deployment, and a deletion
 * destroys.
 */
export async function stackWalk(name: 'terraform' | 'opentofu', open: OpenStackPlace): Promise<void> {
  const image = await provideRunnerImage(name)
  if (image === undefined) it(`a stack of ${name}`, { skip: 'this machine has no such program' })
  else describe(`a stack of ${name}`, () => stackTests(image, { ...stackEngines[name], open }))
}

function stackTests(
  image: string,
  { setting, engine, open }: { readonly setting: string; readonly engine: string; readonly open: OpenStackPlace },
): void {
  const version = image.split(':').at(-1) ?? ''
  let place: StackPlace
  let server: ServerProcess
  let environmentId: string
  let application: TestApplication
  let stack: TestStack

  before(async () => {
    place = await open('stacks', { [setting]: image })
    ;({ server, environmentId } = place)
    const tf_vars = [
      { key: 'text', value: 'from settings:', secret: false },
      { key: 'password', value: secret, secret: true },
    ]
    const settings = { ...small, engine, terraform_variables_source: { tf_var_file_paths: [], tf_vars } }
    stack = await makeStack(server, { environmentId, name: 'stack', version, settings })
    application = await makeApplication(server, { environmentId, name: 'web', settings: { cpu: 100 } })
  })
  after(async () => {
    await Promise.all([stack, application].map((one) => one?.git.remove()))
    await place?.close()
  })

  const variable = (name: string) => `QOVERY_OUTPUT_TERRAFORM_Z${stack.id.slice(0, 8).toUpperCase()}_${name}`
  const states = () =>
    server.sql<{ number: number; serial: number; sealed_state: string }[]>`
      select number, serial::float8 as serial, sealed_state from stack_state
      where service_id = ${stack.id} order by number`

  it('an application of a later stage gets the outputs of a stack in the same deployment', async () => {
    await Promise.all([stack.git.push(tree('one')), application.git.push(web('first'))])
    await server.must('POST', `/environment/${environmentId}/deploy`)
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.equal((await application.settles()).state, 'RUNNING')
    const value = async (name: string) => (await get(`${application.url}/variable/${variable(name)}`)).body
    assert.equal(await value('URL'), 'from settings: one')
    assert.equal(await value('pass_word'), secret)
    assert.equal(await value('list'), '["a",1]')
  })

  it('the plan is in the log without sensitive values, and the state is sealed', async () => {
    const log = (await stack.log()).join('\n')
    assert.match(log, /The plan: 2 to create, 0 to change, 0 to replace, 0 to destroy\./)
    assert.match(log, /\+ create terraform_data\.hidden\n {4}id: \(known after apply\)\n {4}input: \(sensitive\)/)
    assert.match(log, /input: "from settings: one"/)
    assert.doesNotMatch(log, /canary-stack-secret/)
    const kept = await states()
    assert.equal(kept.length, 1)
    assert.doesNotMatch(JSON.stringify(kept), /canary-stack-secret|terraform_data/)
  })

  it('a deployment without changes applies nothing', async () => {
    await stack.deploy()
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan changes nothing\./)
    assert.equal((await states()).length, 1)
    const { results } = await server.must<{ results: { details: { commit: object } }[] }>(
      'GET',
      `/terraform/${stack.id}/deploymentHistoryV2`,
    )
    // The commit was not fetched again.
    assert.deepEqual(results[0]?.details.commit, results[1]?.details.commit)
  })

  it('a change is planned and applied on the kept state', async () => {
    assert.deepEqual(await stack.run(tree('two')), { state: 'DEPLOYED', reason: null })
    const log = (await stack.log()).join('\n')
    assert.match(log, /~ change terraform_data\.one\n {4}input: "from settings: one" → "from settings: two"/)
    assert.deepEqual(
      (await states()).map(({ number }) => number),
      [1, 2],
    )
  })

  it('a stack with a syntax error fails with file and line, and keeps its state', async () => {
    const { state, reason } = await stack.run({ 'main.tf': 'resource "terraform_data" "one" {\n  inputs = 1\n}\n' })
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /The stack could not make a plan\. Unsupported argument \(main\.tf line 2\)/)
    assert.equal((await states()).length, 2)
  })

  it('a deletion destroys the resources first', async () => {
    const log = stack.log
    await server.must('DELETE', `/terraform/${stack.id}`)
    assert.deepEqual(await stack.settles(), { state: 'GONE', reason: null })
    assert.match((await log()).join('\n'), /- destroy terraform_data\.one/)
  })
}
