import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeEnvironment } from '../support/application.ts'
import { type ServerProcess, startServer } from '../support/server-process.ts'
import { makeStack, provideRunnerImage, type TestStack } from '../support/stack.ts'

// A stack whose state has the size of a thousand resources with long attributes.

const image = await provideRunnerImage('opentofu')
const skip = image === undefined && 'this machine has no tofu'

let server: ServerProcess
let stack: TestStack

before(async () => {
  if (image === undefined) return
  server = await startServer({ env: { QUAYSIDE_OPENTOFU_IMAGE: image } })
  const environmentId = await makeEnvironment(server, 'stack-large')
  const version = image.split(':').at(-1) ?? ''
  const job_resources = { cpu_milli: 2000, ram_mib: 2048, gpu: 0, storage_gib: 1 }
  const settings = { engine: 'OPEN_TOFU', job_resources }
  stack = await makeStack(server, { environmentId, name: 'large', version, settings })
})
after(async () => {
  await stack?.git.remove()
  await server?.close()
})

/** Each resource has four kilobytes twice in the state. */
const tree = (changed: number) => ({
  'main.tf': `
resource "terraform_data" "many" {
  count = 1000
  input = "\${count.index < ${changed} ? "new" : "old"} ${'x'.repeat(4000)}"
}
`,
})

test('a state of eight MB is planned, changed and kept, with the plan resource by resource', { skip }, async () => {
  assert.deepEqual(await stack.run(tree(0)), { state: 'DEPLOYED', reason: null })
  const [{ bytes } = { bytes: 0 }] = await server.sql<{ bytes: number }[]>`
    select bytes from stack_state where service_id = ${stack.id}`
  assert.ok(bytes > 8_000_000, `${bytes} bytes`)
  assert.deepEqual(await stack.run(tree(2)), { state: 'DEPLOYED', reason: null })
  const { results } = await server.must<{ results: { id: string; counts: { update: number } }[] }>(
    'GET',
    `/terraform/${stack.id}/run`,
  )
  assert.equal(results[0]?.counts.update, 2)
  const plan = await server.must<{ resources: { address: string; changes: { before: string }[] }[] }>(
    'GET',
    `/terraform/${stack.id}/run/${results[0]?.id}/plan`,
  )
  assert.deepEqual(
    plan.resources.map(({ address }) => address),
    ['terraform_data.many[0]', 'terraform_data.many[1]'],
  )
  assert.match(plan.resources[0]?.changes[0]?.before ?? '', /^"old x+…$/)
})
