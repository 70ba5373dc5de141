import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'
import { openDockerPlace, type StackPlace } from '../support/stack-place.ts'
import { stackEngines } from '../support/stack-walk.ts'
import { until } from '../support/until.ts'

// OpenTofu writes the state of an apply every twenty seconds. Without a state at the beginning, it
// would leave out the resources of the first twenty.

const image = await provideRunnerImage('opentofu')
const { setting, engine } = stackEngines.opentofu

const resource = (name: string, after: string, seconds: number): string => `
resource "terraform_data" "${name}" {
  depends_on = [${after}]
  provisioner "local-exec" { command = "sleep ${seconds}" }
}
`
const tree = (seconds: number) => ({
  'main.tf': [
    resource('first', '', 0),
    resource('second', 'terraform_data.first', Math.min(11, seconds)),
    resource('third', 'terraform_data.second', Math.min(11, seconds)),
    resource('fourth', 'terraform_data.third', seconds),
  ].join(''),
})

describe('the first apply of a stack of OpenTofu', { skip: image === undefined && 'no tofu' }, () => {
  let place: StackPlace
  const stacks: TestStack[] = []
  before(async () => {
    place = await openDockerPlace('snapshots', { [setting]: image ?? '' })
  })
  after(async () => {
    await Promise.all(stacks.map(({ git }) => git.remove()))
    await place?.close()
  })
  const newStack = async () => {
    const { server, environmentId } = place
    const version = image?.split(':').at(-1) ?? ''
    const name = `snapshots-${stacks.length}`
    const stack = await makeStack(server, { environmentId, name, version, settings: { engine } })
    stacks.push(stack)
    return stack
  }
  const serials = async ({ id }: TestStack) =>
    (
      await place.server.sql<{ serial: number }[]>`
      select serial::float8 as serial from stack_state where service_id = ${id}`
    ).map(({ serial }) => serial)

  it('keeps all resources that it had created when its container is removed', async () => {
    const stack = await newStack()
    await stack.git.push(tree(90))
    await stack.deploy()
    const container = await place.running(stack, 'apply')
    await until('a state is kept', async () => (await serials(stack)).length === 1)
    await place.remove(container)
    assert.equal((await stack.settles()).state, 'DEPLOYMENT_ERROR')
    await stack.deploy({ action: 'FORCE_UNLOCK' })
    assert.equal((await stack.settles()).state, 'DEPLOYED')
    assert.deepEqual(await stack.run(tree(0)), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan: 1 to create, 0 to change, 0 to replace, 0 to destroy\./)
  })

  it('encrypts its state if its sources say so, and the next run reads it', async () => {
    const stack = await newStack()
    const encrypted = (input: number) => ({
      'main.tf': `
terraform {
  encryption {
    key_provider "pbkdf2" "one" { passphrase = "a-long-passphrase-of-a-test" }
    method "aes_gcm" "one" { keys = key_provider.pbkdf2.one }
    state {
      method   = method.aes_gcm.one
      enforced = true
    }
  }
}
resource "terraform_data" "one" { input = ${input} }
`,
    })
    assert.deepEqual(await stack.run(encrypted(1)), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await stack.run(encrypted(2)), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan: 0 to create, 1 to change, 0 to replace, 0 to destroy\./)
  })
})
