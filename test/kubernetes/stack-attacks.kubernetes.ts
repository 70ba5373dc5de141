import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type StackBench, stackSuite } from '../support/stack-bench.ts'
import { until } from '../support/until.ts'
import { kubectl } from './cluster/commands.ts'
import { openClusterPlace } from './support/stack-place.ts'

// Files of a stack are programs of a user. On a cluster they get no credentials, their files are in
// no object, and they may not fill a node.

await stackSuite(
  { name: 'attacks of stacks on a cluster', folder: 'stack-attacks', open: openClusterPlace },
  secretCases,
  sizeCases,
)

/** The value is in the sources, the plan and the state, and in no variable. */
const canary = 'canary-of-a-state'
const looking = `
resource "terraform_data" "one" { input = "${canary}" }
resource "terraform_data" "two" {
  depends_on = [terraform_data.one]
  provisioner "local-exec" {
    interpreter = ["/bin/sh", "-ec"]
    command     = <<-EOT
      test ! -e /var/run/secrets/kubernetes.io
      test ! -e /gate
      test ! -e /kept
      sleep 8
    EOT
  }
}
`

function secretCases(get: () => StackBench): void {
  it('a run has no token, and no object of its namespace has its plan or its state', async () => {
    const { place, newStack, states } = get()
    const stack = await newStack()
    await stack.git.push({ 'main.tf': looking })
    await stack.deploy()
    const [namespace = ''] = (await place.running(stack, 'apply')).split('/')
    await until('a state is kept', async () => (await states(stack)).length === 1)
    const kinds = 'secrets,configmaps,jobs,pods,events'
    const objects = await kubectl(['get', kinds, '--namespace', namespace, '--output', 'json'])
    const { items } = JSON.parse(objects) as { items: { kind: string; data?: Record<string, string> }[] }
    const opened = items.flatMap(({ kind, data = {} }) =>
      kind === 'Secret' ? Object.values(data).map((value) => Buffer.from(value, 'base64').toString()) : [],
    )
    assert.ok(items.length > 2)
    assert.ok(![objects, ...opened].some((text) => text.includes(canary)))
    assert.deepEqual(await stack.settles(), { state: 'DEPLOYED', reason: null })
  })
}

function sizeCases(get: () => StackBench): void {
  it('a state of three MiB, which no Secret holds, is kept, and the next run begins with it', async () => {
    const { newStack, states } = get()
    const stack = await newStack()
    const long = (count: number) => `
locals { text = join("", [for n in range(300) : "${'x'.repeat(5000)}"]) }
resource "terraform_data" "long" { input = local.text }
resource "terraform_data" "other" { count = ${count} }
`
    assert.deepEqual(await stack.run({ 'main.tf': long(1) }), { state: 'DEPLOYED', reason: null })
    assert.deepEqual(await stack.run({ 'main.tf': long(2) }), { state: 'DEPLOYED', reason: null })
    assert.match((await stack.log()).join('\n'), /The plan: 1 to create, 0 to change, 0 to replace, 0 to destroy\./)
    assert.equal((await states(stack)).length, 2)
  })

  it('a run that fills its storage is ended by the cluster with the reason, and its stack is locked', async () => {
    const { newStack, runs, states } = get()
    const stack = await newStack()
    const { state, reason } = await stack.run({
      'main.tf': `
resource "terraform_data" "first" { input = 1 }
resource "terraform_data" "fill" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" { command = "sleep 4; head -c 1300m /dev/zero >/quayside-run/fill; sleep 120" }
}
`,
    })
    assert.equal(state, 'DEPLOYMENT_ERROR')
    assert.match(reason ?? '', /^The cluster ended the pod of this run\. Evicted: /)
    assert.deepEqual(await runs(stack), [{ action: 'APPLY', status: 'LOST' }])
    // The engine wrote it when the cluster asked it to end: the second resource is tainted.
    assert.equal((await states(stack))[0]?.serial, 3)
  })
}
